import fastify, { type FastifyError } from "fastify";
import { describe, expect, it, onTestFinished } from "vitest";
import { guardFastify } from "../../src/integrations/fastify.ts";
import {
  delayedPieces,
  endlessStreams,
  httpGuardCases,
  type StartApplication,
} from "../../test/support/http-guard-cases.ts";
import { PassThroughGuard } from "../../test/support/pass-through-guard.ts";

type Texts = { texts: string[] };
type Chat = { messages: { content: string }[] };
type Stream = { pieces: string[]; wait: number };

const start: StartApplication = async (guard, seen) => {
  const app = fastify({ forceCloseConnections: true });
  onTestFinished(() => app.close());
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    seen.errors.push(error);
    return reply.code(error.statusCode ?? 500).send({ message: error.message });
  });
  await app.register(guardFastify, { guard });
  app.addHook("preHandler", async (request) => void seen.bodies.push(request.body));
  app.post("/chat", { config: { guard: { input: "body.messages", output: "reply.text" } } }, (request, reply) => {
    const { messages } = request.body as Chat;
    return reply.sendGuarded({ reply: { text: `ECHO: ${messages.at(-1)?.content}` } });
  });
  app.post("/whole", { config: { guard: { input: "body" } } }, async () => ({ ok: true }));
  app.post(
    "/field",
    {
      config: {
        guard: {
          input: ({ body }) => (body as Texts).texts[0],
          replace: ({ body }, text) => (body as Texts).texts.splice(0, 1, text as string),
        },
      },
    },
    (request, reply) => reply.sendGuarded((request.body as Texts).texts.join(" ")),
  );
  const onBlocked = () => ({ status: 451, body: "Sorry." });
  app.post("/stream", (request, reply) => {
    const { pieces, wait } = request.body as Stream;
    return reply.sendGuarded(delayedPieces(pieces, wait));
  });
  app.post("/stream/sorry", { config: { guard: { onBlocked } } }, (request, reply) => {
    const { pieces, wait } = request.body as Stream;
    return reply.sendGuarded(delayedPieces(pieces, wait));
  });
  app.post("/endless", (_request, reply) => reply.sendGuarded(endlessStreams.stream()));
  return app.listen({ port: 0, host: "127.0.0.1" });
};

describe("guard-scan/fastify", () => {
  httpGuardCases(start);

  it("rejects invalid options of a route", async () => {
    const app = fastify();
    onTestFinished(() => app.close());
    await app.register(guardFastify, { guard: new PassThroughGuard() });
    expect(() => app.post("/a", { config: { guard: { input: "query.q" } } }, async () => "")).toThrow("input: ");
    expect(() => app.post("/b", { config: { guard: { input: () => "" } } }, async () => "")).toThrow("replace: ");
    const other = fastify();
    await expect(other.register(guardFastify, { guard: new PassThroughGuard(), output: "a..b" })).rejects.toThrow(
      "output: ",
    );
  });

  it("checks the input of all routes by an option of the plugin, except those that opt out", async () => {
    const app = fastify();
    onTestFinished(() => app.close());
    await app.register(guardFastify, { guard: new PassThroughGuard(), input: "body.text" });
    app.post("/judged", async () => "ok");
    app.post("/open", { config: { guard: false } }, async () => "ok");
    const post = (url: string, payload: object) => app.inject({ method: "POST", url, payload });
    expect((await post("/judged", { text: "Hi" })).statusCode).toBe(200);
    expect((await post("/judged", { txt: "Hi" })).statusCode).toBe(422);
    expect((await post("/open", { txt: "Hi" })).statusCode).toBe(200);
    expect((await post("/nowhere", {})).statusCode).toBe(404);
  });

  it("sends a blocked reply that does not match the response schema of the route", async () => {
    const app = fastify();
    onTestFinished(() => app.close());
    await app.register(guardFastify, { guard: new PassThroughGuard() });
    const response = { "4xx": { type: "object", properties: { reason: { type: "string" } } } };
    app.post("/", { schema: { response } }, (_request, reply) => reply.sendGuarded(delayedPieces(["zebra"], 0)));
    const reply = await app.inject({ method: "POST", url: "/", payload: {} });
    expect(reply.json()).toMatchObject({ status: 400, detail: expect.stringContaining("blocked by guard") });
  });
});
