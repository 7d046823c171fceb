import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { startedExtProc } from "../../integrations/envoy/started.ts";
import type { StructValue } from "../../src/grpc/struct.ts";
import { exampleGuard } from "../support/example-guard.ts";
import { bodyOf, ExtProcClient, type ExtProcStream, grpc, headersOf, refusalOf } from "../support/ext-proc-client.ts";

const ask = (content: string, more: object = {}) => ({ model: "m", messages: [{ role: "user", content }], ...more });
const say = (content: string) => ({
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
});
const event = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const SSE = { "content-type": "text/event-stream" };
const PLACEHOLDER = "[REDACTED_EMAIL_ADDRESS_1]";

/** The numbers of status codes of gRPC. */
const CODES = { ok: 0, exhausted: 8, unavailable: 14, unauthenticated: 16 };

async function clientFor(options: Parameters<typeof startedExtProc>[0] = {}) {
  const server = await startedExtProc(options);
  return { server, client: new ExtProcClient(server.port) };
}

/** Sends a request in the mode BUFFERED, and returns the answer to its body. */
async function sent(stream: ExtProcStream, body: unknown) {
  stream.requestHeaders();
  const headers = await stream.next();
  stream.requestBody(body);
  return { headers, body: await stream.next() };
}

const openssl = spawnSync("openssl", ["version"]).status === 0;

/** The files of a certificate and its key. */
type Pair = Record<"cert" | "key", string>;

/** Makes a certificate of localhost that nobody has signed. */
function certificate(name: string): Pair {
  const folder = mkdtempSync(join(tmpdir(), "guard-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost"];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", ...kind, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { cert, key };
}

const outcomeOf = ({ dynamicMetadata }: { dynamicMetadata?: StructValue["structValue"] }) =>
  dynamicMetadata?.fields?.guard?.structValue?.fields?.outcome?.stringValue;

describe("an external processor", () => {
  it("masks a buffered request and restores its answer, with the right lengths", async () => {
    const { server, client } = await clientFor();
    const stream = client.open("BUFFERED");
    const { headers, body } = await sent(stream, ask("Write to ann@example.org."));
    expect(headersOf(headers)).toEqual({ "accept-encoding": "identity" });
    expect(JSON.parse(bodyOf(body))).toEqual(ask(`Write to ${PLACEHOLDER}.`));
    expect(headersOf(body)["content-length"]).toBe(String(bodyOf(body).length));
    expect(outcomeOf(body)).toBe("masked");
    stream.responseHeaders({ "content-length": "1", etag: "old" });
    expect((await stream.next()).responseHeaders?.response.bodyMutation).toBeUndefined();
    stream.responseBody(say(`I wrote to ${PLACEHOLDER}.`));
    const answer = await stream.next();
    expect(JSON.parse(bodyOf(answer))).toEqual(say("I wrote to ann@example.org."));
    expect(headersOf(answer)["content-length"]).toBe(String(bodyOf(answer).length));
    expect(answer.responseBody?.response.headerMutation?.removeHeaders).toEqual(["etag"]);
    expect(await stream.ended()).toBe(CODES.ok);
    expect(server.calls()).toMatchObject([{ call: "OpenAI chat completions", status: 200, outcome: "masked" }]);
    expect(await server.metrics()).toContain(
      'guard_ext_proc_calls_total{call="OpenAI chat completions",outcome="masked"} 1',
    );
  });

  it("holds a duplex request until it is checked, and streams the answer as it is released", async () => {
    const { client } = await clientFor();
    const stream = client.open("FULL_DUPLEX_STREAMED");
    const text = JSON.stringify(ask("Write to ann@example.org."));
    stream.requestHeaders().requestBody(text.slice(0, 40), false);
    await sleep(50);
    expect(stream.replies).toEqual([]);
    stream.requestBody(text.slice(40));
    const replies = [await stream.next(), await stream.next(), await stream.next()];
    expect(replies.map((reply) => Object.keys(reply)[0])).toEqual(["requestHeaders", "requestBody", "requestBody"]);
    expect(JSON.parse(bodyOf(replies[1] ?? {}))).toEqual(ask(`Write to ${PLACEHOLDER}.`));
    expect(replies[2]?.requestBody?.response.bodyMutation).toMatchObject({ streamedResponse: { endOfStream: true } });
    stream.responseHeaders(SSE);
    expect((await stream.next()).responseHeaders).toBeDefined();
    stream.responseBody(event("I wrote to [REDACTED_EMAIL_"), false).responseBody(event("ADDRESS_1]. Anything"), false);
    let shown = "";
    while (!shown.includes("ann@example.org")) shown += bodyOf(await stream.next());
    stream.responseBody(`${event(" else?")}data: [DONE]\n\n`);
    let last = await stream.next();
    while (!JSON.stringify(last.responseBody?.response.bodyMutation).includes('"endOfStream":true')) {
      shown += bodyOf(last);
      last = await stream.next();
    }
    expect(shown).toContain("[DONE]");
    expect(shown).not.toContain("REDACTED");
    expect(await stream.ended()).toBe(CODES.ok);
  });

  it("checks a stream of Gemini that is a JSON array", async () => {
    const { server, client } = await clientFor();
    const stream = client.open("FULL_DUPLEX_STREAMED");
    const parts = (text: string) => ({ parts: [{ text }] });
    stream.requestHeaders("/v1beta/models/gemini:streamGenerateContent");
    stream.requestBody({ contents: [parts("Write to ann@example.org.")] });
    const replies = [await stream.next(), await stream.next(), await stream.next()];
    expect(JSON.parse(bodyOf(replies[1] ?? {}))).toEqual({ contents: [parts(`Write to ${PLACEHOLDER}.`)] });
    stream.responseHeaders({ "content-type": "application/json" });
    await stream.next();
    const item = (text: string) => JSON.stringify({ candidates: [{ content: parts(text) }] });
    stream.responseBody(`[${item("I wrote to [REDACTED_EMAIL_")}`, false);
    stream.responseBody(`,${item("ADDRESS_1].")}]`);
    expect(await stream.ended()).toBe(CODES.ok);
    const shown = stream.replies.map((reply) => bodyOf(reply)).join("");
    expect(shown).toContain("ann@example.org");
    expect(shown).not.toContain("REDACTED_EMAIL_");
    expect(server.calls()).toMatchObject([{ call: "Google Gemini", status: 200, outcome: "masked" }]);
  });

  it("answers every message of a streamed body exactly once, and adds nothing to trailers", async () => {
    const { client } = await clientFor();
    const stream = client.open("STREAMED");
    const text = JSON.stringify(ask("Write to ann@example.org."));
    stream.requestHeaders();
    await stream.next();
    stream.requestBody(text.slice(0, 40), false);
    expect(bodyOf(await stream.next())).toBe("");
    stream.requestBody(text.slice(40));
    expect(JSON.parse(bodyOf(await stream.next()))).toEqual(ask(`Write to ${PLACEHOLDER}.`));
    stream.responseHeaders(SSE);
    await stream.next();
    let shown = "";
    for (const piece of [event("One."), event(" Two."), "data: [DONE]\n\n"]) {
      stream.responseBody(piece, false);
      shown += bodyOf(await stream.next());
    }
    stream.responseBody("");
    shown += bodyOf(await stream.next());
    expect(shown.replaceAll(/.*"content":"([^"]*)".*\n\n/g, "$1")).toBe("One. Two.data: [DONE]\n\n");
    expect(stream.replies).toEqual([]);
  });

  it("sends trailers after a duplex body", async () => {
    const { client } = await clientFor();
    const stream = client.open("FULL_DUPLEX_STREAMED");
    stream.requestHeaders().requestBody(ask("Hi."), false).send({ requestTrailers: {} });
    const names = [await stream.next(), await stream.next(), await stream.next()].map((reply) => Object.keys(reply)[0]);
    expect(names).toEqual(["requestHeaders", "requestBody", "requestTrailers"]);
    stream.responseHeaders().responseBody(say("Hi."), false).send({ responseTrailers: {} });
    const answers = [await stream.next(), await stream.next(), await stream.next()];
    expect(answers.map((reply) => Object.keys(reply)[0])).toEqual([
      "responseHeaders",
      "responseBody",
      "responseTrailers",
    ]);
  });

  it("reads calls of an Envoy that does not tell its modes", async () => {
    const { client } = await clientFor();
    const stream = client.open();
    stream.send({
      requestHeaders: {
        headers: {
          headers: [
            { key: ":method", value: "POST" },
            { key: ":path", value: "/v1/chat/completions" },
          ],
        },
      },
      protocolConfig: undefined as never,
    });
    await stream.next();
    stream.requestBody(ask("Write to ann@example.org."));
    const reply = await stream.next();
    expect(headersOf(reply)["content-length"]).toBe(String(bodyOf(reply).length));
  });
});

describe("a call that guard refuses", () => {
  it.each([
    ["a failing text", "/v1/chat/completions", ask("This is forbidden."), 400, /blocked by guard/],
    [
      "a failing text for Gemini",
      "/v1beta/models/gemini:generateContent",
      { contents: [{ parts: [{ text: "This is forbidden." }] }] },
      403,
      /blocked by guard/,
    ],
    ["broken JSON", "/v1/chat/completions", '{"messages":', 400, /expected JSON/],
    ["duplicate keys", "/v1/chat/completions", '{"messages":[],"messages":[]}', 400, /messages/],
    [
      "the shape of Anthropic",
      "/v1/messages",
      { model: "m", messages: [{ role: "user", content: "forbidden" }] },
      400,
      /blocked/,
    ],
  ])("gets the answer of the proxy: %s", async (_, path, body, status, message) => {
    const { client } = await clientFor();
    const stream = client.open("BUFFERED").requestHeaders(path);
    await stream.next();
    const refusal = refusalOf(await stream.requestBody(body).next());
    expect(refusal.status).toBe(status);
    expect(refusal.body).toMatchObject({ error: { message: expect.stringMatching(message) } });
    expect("type" in (refusal.body as object)).toBe(path === "/v1/messages");
    expect(await stream.ended()).toBe(CODES.ok);
  });

  it.each([
    ["an unknown path", "/v1/files", "POST", 404],
    ["a path with encoded separators", "/v1/models%2F..%2Fchat/completions", "POST", 404],
    ["no path", "", "POST", 404],
    ["another method", "/v1/chat/completions", "DELETE", 405],
  ])("is refused at its headers: %s", async (_, path, method, status) => {
    const { client } = await clientFor();
    expect(refusalOf(await client.open().requestHeaders(path, { method }).next()).status).toBe(status);
  });

  it.each([
    ["compressed", { "content-encoding": "gzip" }, 502],
    ["a redirect", { ":status": "307", location: "https://elsewhere" }, 502],
    ["with a status that does not exist", { ":status": "99" }, 502],
  ])("because of its answer: %s", async (_, headers, status) => {
    const { client } = await clientFor();
    const stream = client.open("BUFFERED");
    await sent(stream, ask("Hi."));
    expect(refusalOf(await stream.responseHeaders(headers).next()).status).toBe(status);
  });

  it("because its answer failed, or is not JSON", async () => {
    const { client } = await clientFor();
    for (const [answer, status] of [
      [say("It leaked."), 400],
      ["<html>", 502],
    ] as const) {
      const stream = client.open("BUFFERED");
      await sent(stream, ask("Hi."));
      stream.responseHeaders();
      await stream.next();
      expect(refusalOf(await stream.responseBody(answer).next()).status).toBe(status);
    }
  });

  it("because messages do not come in their order", async () => {
    const { client } = await clientFor();
    expect(refusalOf(await client.open().requestBody(ask("Hi.")).next()).status).toBe(500);
    const early = client.open("BUFFERED").requestHeaders();
    await early.next();
    expect(refusalOf(await early.responseHeaders().next()).status).toBe(502);
    const headless = client.open("BUFFERED");
    await sent(headless, ask("Hi."));
    expect(refusalOf(await headless.responseBody(say("Hi.")).next()).status).toBe(502);
  });

  it("because only a part of its body has arrived", async () => {
    const { client } = await clientFor();
    const stream = client.open("BUFFERED_PARTIAL").requestHeaders();
    await stream.next();
    expect(refusalOf(await stream.requestBody('{"model"', false).next()).status).toBe(413);
  });
});

describe("bodies that Envoy does not send", () => {
  it("are refused in requests, and skipped in answers", async () => {
    const { client, server } = await clientFor();
    expect(refusalOf(await client.open("NONE").requestHeaders().next()).status).toBe(500);
    const stream = client.open("BUFFERED", "NONE");
    await sent(stream, ask("Hi."));
    expect((await stream.responseHeaders().next()).responseHeaders).toBeDefined();
    expect(await stream.ended()).toBe(CODES.ok);
    expect(server.calls()).toMatchObject([{ status: 500 }, { status: 200, outcome: "passed" }]);
  });
});

describe("calls that pass", () => {
  it("are not read any further, or returned as they are", async () => {
    const { client, server } = await clientFor({ pass: ["/v1/files"] });
    const stream = client.open("FULL_DUPLEX_STREAMED").requestHeaders("/v1/files");
    expect((await stream.next()).modeOverride).toMatchObject({ responseHeaderMode: 2 });
    expect(bodyOf(await stream.requestBody("forbidden").next())).toBe("forbidden");
    expect(await stream.responseHeaders().next()).toMatchObject({ responseHeaders: {} });
    expect(bodyOf(await stream.responseBody("leaked").next())).toBe("leaked");
    await stream.end().ended();
    const models = client.open("BUFFERED").requestHeaders("/v1/models", { method: "GET", endOfStream: true });
    expect(await models.next()).toMatchObject({ requestHeaders: {} });
    await models.end().ended();
    await expect.poll(() => server.calls()).toMatchObject([{ call: "passed" }, { call: "passed" }]);
  });

  it("include answers with errors of the upstream", async () => {
    const { client } = await clientFor();
    const stream = client.open("BUFFERED");
    await sent(stream, ask("Hi."));
    stream.responseHeaders({ ":status": "429", "retry-after": "7" });
    await stream.next();
    expect(bodyOf(await stream.responseBody({ error: "leaked" }).next())).toBe('{"error":"leaked"}');
  });

  it("get the spelling of the path that guard has read", async () => {
    const { client } = await clientFor();
    const reply = await client.open("BUFFERED").requestHeaders("//v1/x/../chat/%63ompletions?a=1").next();
    expect(headersOf(reply)[":path"]).toBe("/v1/chat/completions?a=1");
  });
});

describe("a processor that observes", () => {
  it("answers nothing and changes nothing, and counts what it would have done", async () => {
    const { client, server } = await clientFor();
    const stream = client.open("STREAMED");
    stream.observes = true;
    const text = JSON.stringify(ask("This is forbidden for ann@example.org."));
    stream.requestHeaders().requestBody(text.slice(0, 30), false).requestBody(text.slice(30));
    stream.responseHeaders(SSE).responseBody(event("It leaked."), false).responseBody("data: [DONE]\n\n").end();
    expect(await stream.ended()).toBe(CODES.ok);
    expect(stream.replies).toEqual([]);
    expect(server.calls()).toMatchObject([
      {
        observed: true,
        status: 200,
        outcome: "passed",
        would_block: expect.arrayContaining(["Anonymize", "BanSubstrings"]),
      },
    ]);
  });

  it("ends quietly for a call that it cannot read", async () => {
    const { client, server } = await clientFor();
    for (const [path, body] of [
      ["/v1/files", "x"],
      ["/v1/chat/completions", "{"],
    ] as const) {
      const stream = client.open("STREAMED");
      stream.observes = true;
      stream.requestHeaders(path).requestBody(body);
      expect([await stream.end().ended(), stream.replies]).toEqual([CODES.ok, []]);
    }
    expect(server.calls()).toHaveLength(2);
  });
});

describe("limits", () => {
  it("refuse bodies and messages that are too large", async () => {
    const { client } = await clientFor({ maxBodySize: 2000 });
    const stream = client.open("FULL_DUPLEX_STREAMED").requestHeaders();
    for (let piece = 0; piece < 3; piece++) stream.requestBody("x".repeat(1000), false);
    expect(refusalOf(await stream.next())).toMatchObject({ status: 413 });
    const large = client.open("BUFFERED").requestHeaders();
    await large.next();
    large.requestBody("x".repeat(3_000_000));
    expect(await large.ended()).toBe(CODES.exhausted);
  });

  it("refuse answers that are too large", async () => {
    const { client } = await clientFor({ maxAnswerSize: 1024 });
    const stream = client.open("BUFFERED");
    await sent(stream, ask("Hi."));
    stream.responseHeaders();
    await stream.next();
    expect(refusalOf(await stream.responseBody(say("x".repeat(2000))).next()).status).toBe(502);
  });

  it("refuse more calls than allowed, and free their places", async () => {
    const { client } = await clientFor({ maxCalls: 2 });
    const open = [client.open().requestHeaders(), client.open().requestHeaders()];
    for (const stream of open) await stream.next();
    const refused = await client.open().requestHeaders().next();
    expect([refusalOf(refused).status, headersOf(refused)["retry-after"]]).toEqual([503, "1"]);
    for (const stream of open) stream.end();
    for (const stream of open) await stream.ended();
    expect((await client.open().requestHeaders().next()).requestHeaders).toBeDefined();
  });

  it("refuse more memory for bodies than allowed, by caller", async () => {
    const { client } = await clientFor({ maxBodySize: 2000, maxOpenBodies: 2000, callerHeader: "X-Team" });
    const open = (team: string) => client.open("FULL_DUPLEX_STREAMED").requestHeaders(undefined, { "x-team": team });
    const streams = [open("a"), open("a")];
    for (const stream of streams) stream.requestBody("x".repeat(700), false);
    const replies = await Promise.race(streams.map((stream) => stream.next()));
    expect(refusalOf(replies).status).toBe(503);
    const other = open("b").requestBody(JSON.stringify(ask("Hi.")));
    expect((await other.next()).requestHeaders).toBeDefined();
  });

  it("end a call on which nothing arrives", async () => {
    const { client, server } = await clientFor({ idleTimeout: 0.1 });
    const stream = client.open("FULL_DUPLEX_STREAMED").requestHeaders();
    expect(refusalOf(await stream.next()).status).toBe(504);
    await stream.ended();
    expect(server.calls()).toMatchObject([{ status: 504 }]);
  });
});

describe("calls that Envoy ends early", () => {
  it("stop their checks, half-closed or cancelled at any point", async () => {
    const { client, server } = await clientFor();
    const steps: ((stream: ExtProcStream) => void)[] = [
      (stream) => stream.requestHeaders(),
      (stream) => stream.requestBody('{"model":', false),
      (stream) => stream.requestBody('"m","messages":[]}'),
      (stream) => stream.responseHeaders(SSE),
      (stream) => stream.responseBody(event("One"), false),
    ];
    for (let count = 0; count <= steps.length; count++) {
      for (const finish of [(stream: ExtProcStream) => stream.end(), (stream: ExtProcStream) => stream.call.cancel()]) {
        const stream = client.open("FULL_DUPLEX_STREAMED");
        for (const step of steps.slice(0, count)) step(stream);
        await sleep(5);
        finish(stream);
        await stream.ended();
      }
    }
    await expect.poll(() => server.metrics()).toContain("guard_ext_proc_calls_running 0");
  });

  it("do not disturb others, however many there are", async () => {
    const guard = await exampleGuard({ maxScans: 1000 });
    const { client, server } = await clientFor({ guard });
    const run = async (index: number) => {
      const stream = client.open("FULL_DUPLEX_STREAMED");
      stream.requestHeaders().requestBody(ask(`Write to user${index}@example.org.`));
      if (index % 4 === 0) return stream.call.cancel();
      for (let count = 0; count < 3; count++)
        expect(Buffer.from((await stream.next()).immediateResponse?.body ?? "").toString()).toBe("");
      stream.responseHeaders().responseBody(say(`To ${PLACEHOLDER}.`));
      expect(await stream.next()).toHaveProperty("responseHeaders");
      return bodyOf(await stream.next());
    };
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => run(index)));
    for (const [index, answer] of answers.entries()) {
      if (index % 4 !== 0) expect(answer).toContain(`To user${index}@example.org.`);
    }
    await expect.poll(() => server.metrics()).toContain("guard_ext_proc_calls_running 0");
  });
});

describe("a server of gRPC", () => {
  it("asks for a credential in the metadata", async () => {
    const { port } = await startedExtProc({
      config: {
        app: { logLevel: "info", logJson: true, logContent: false },
        auth: [{ type: "api_key", header: "X-Guard-Key", keys: ["secret-key-of-envoy"] }],
      } as never,
    });
    const stranger = new ExtProcClient(port, { metadata: { "x-guard-key": "wrong" } }).open().requestHeaders();
    expect(await stranger.ended()).toBe(CODES.unauthenticated);
    const envoy = new ExtProcClient(port, { metadata: { "x-guard-key": "secret-key-of-envoy" } }).open();
    expect((await envoy.requestHeaders().next()).requestHeaders).toBeDefined();
  });

  it("does not listen for other machines without a credential", async () => {
    await expect(startedExtProc({ host: "0.0.0.0" })).rejects.toThrow("other machines could call guard");
    await expect(startedExtProc({ callerHeader: "not a header" })).rejects.toThrow("expected the name of a header");
  });

  it.skipIf(!openssl)("speaks TLS, and asks for certificates of clients", async () => {
    const [server, client, other] = ["server", "client", "other"].map(certificate) as [Pair, Pair, Pair];
    const { port } = await startedExtProc({ host: "localhost", tls: { ...server, clientCa: client.cert } });
    const connect = (pair?: Pair) => {
      const [root, key, cert] = [server.cert, pair?.key, pair?.cert].map((file) => (file ? readFileSync(file) : null));
      const credentials = grpc.credentials.createSsl(root ?? null, key ?? null, cert ?? null);
      return new ExtProcClient(port, { credentials }).open().requestHeaders();
    };
    expect((await connect(client).next()).requestHeaders).toBeDefined();
    expect(await connect(other).ended()).toBe(CODES.unavailable);
    expect(await connect().ended()).toBe(CODES.unavailable);
  });

  it("finishes calls in progress when it closes, and takes no others", async () => {
    const { client, server } = await clientFor({ guard: await exampleGuard() });
    const stream = client.open("BUFFERED");
    await sent(stream, ask("Hi."));
    const closed = server.close();
    await sleep(50);
    stream.responseHeaders();
    await stream.next();
    expect(JSON.parse(bodyOf(await stream.responseBody(say("Hi.")).next()))).toEqual(say("Hi."));
    await closed;
    const late = client.open().requestHeaders();
    expect(await late.ended()).not.toBe(CODES.ok);
  });

  it("serves health and metrics over HTTP", async () => {
    const { server } = await clientFor();
    const statuses = await Promise.all(
      ["/healthz", "/readyz", "/metrics", "/other"].map(async (path) => (await fetch(server.url + path)).status),
    );
    expect(statuses).toEqual([200, 200, 200, 404]);
  });
});
