import type { AddressInfo } from "node:net";
import express, { type ErrorRequestHandler } from "express";
import { describe, expect, it, onTestFinished } from "vitest";
import { type GuardHttpError, guardExpress } from "../../src/integrations/express.ts";
import {
  delayedPieces,
  endlessStreams,
  httpGuardCases,
  type StartApplication,
} from "../../test/support/http-guard-cases.ts";
import { PassThroughGuard } from "../../test/support/pass-through-guard.ts";

const listen = (app: express.Express): Promise<string> =>
  new Promise((resolve) => {
    const server = app.listen(0, "127.0.0.1", () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
  });

const start: StartApplication = async (guard, seen) => {
  const app = express();
  app.use(express.json());
  const note: express.RequestHandler = (request, _response, next) => {
    seen.bodies.push(request.body);
    next();
  };
  app.post("/chat", guardExpress({ guard, input: "body.messages", output: "reply.text" }), note, (request, response) =>
    response.sendGuarded({ reply: { text: `ECHO: ${request.body.messages.at(-1).content}` } }),
  );
  app.post("/whole", guardExpress({ guard, input: "body" }), note, (_request, response) => {
    response.json({ ok: true });
  });
  app.post(
    "/field",
    guardExpress({
      guard,
      input: (request) => request.body.texts[0],
      replace: (request, text) => request.body.texts.splice(0, 1, text),
    }),
    note,
    (request, response) => response.sendGuarded(request.body.texts.join(" ")),
  );
  const onBlocked = () => ({ status: 451, body: "Sorry." });
  const stream: express.RequestHandler = (request, response) =>
    response.sendGuarded(delayedPieces(request.body.pieces, request.body.wait));
  app.post("/stream", guardExpress({ guard }), stream);
  app.post("/stream/sorry", guardExpress({ guard, onBlocked }), stream);
  app.post("/endless", guardExpress({ guard }), (_request, response) => response.sendGuarded(endlessStreams.stream()));
  const onError: ErrorRequestHandler = (error: GuardHttpError, _request, response, next) => {
    seen.errors.push(error);
    if (response.headersSent) return next(error);
    response.status(error.statusCode ?? 500).json({ message: error.message });
  };
  app.use(onError);
  return listen(app);
};

describe("guard-scan/express", () => {
  httpGuardCases(start);

  it("rejects invalid options at construction", () => {
    const guard = new PassThroughGuard();
    expect(() => guardExpress({ guard, input: "query.q" })).toThrow("input: ");
    expect(() => guardExpress({ guard, input: () => "" })).toThrow("replace: ");
    expect(() => guardExpress({ guard, output: "a..b" })).toThrow("output: ");
  });

  it("uses one guarded call per request, even if it is installed twice", async () => {
    const guard = new PassThroughGuard();
    const app = express();
    app.use(express.json(), guardExpress({ guard }));
    app.post("/", guardExpress({ guard, input: "body.text" }), (request, response) =>
      response.sendGuarded(request.body.text),
    );
    const url = await listen(app);
    const body = JSON.stringify({ text: "<b>Hi</b>" });
    const reply = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect([reply.headers.get("content-type"), await reply.text()]).toEqual(["text/plain; charset=utf-8", "<b>Hi</b>"]);
    expect(guard.signals).toHaveLength(1);
  });

  it("leaves errors to Express if the application has no error handler", async () => {
    const app = express();
    app.set("env", "test");
    app.post(
      "/",
      express.json(),
      guardExpress({ guard: new PassThroughGuard(), input: "body.text" }),
      (_, response) => {
        response.end();
      },
    );
    const url = await listen(app);
    const body = JSON.stringify({ text: "away" });
    const reply = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect(reply.status).toBe(502);
  });
});
