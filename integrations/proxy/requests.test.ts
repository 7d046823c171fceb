import http, { type IncomingHttpHeaders } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { upstreamForTests } from "../../test/support/upstream.ts";
import { startedProxy } from "./started.ts";

const upstream = upstreamForTests();

const CHAT = "/v1/chat/completions";
const ask = (content: string) => ({ model: "gpt", messages: [{ role: "user", content }] });
const answer = { choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hi." } }] };

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Sends a request with its target and headers unchanged. */
function raw(
  url: string,
  method: string,
  path: string,
  headers: http.OutgoingHttpHeaders = {},
  body = "",
): Promise<Reply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, method, path, headers, agent: false }, async (reply) => {
      let text = "";
      for await (const chunk of reply) text += chunk;
      resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text });
    });
    request.on("error", reject);
    request.end(body);
  });
}

const JSON_TYPE = { "content-type": "application/json" };
const post = (url: string, path: string, body: unknown, headers: http.OutgoingHttpHeaders = {}) =>
  raw(url, "POST", path, { ...JSON_TYPE, ...headers }, JSON.stringify(body));

describe("a message that guard proxy forwards", () => {
  it("is the client's request without its connection headers", async () => {
    const { url } = await startedProxy(upstream.url);
    upstream.answers = [{ json: answer }];
    const reply = await post(url, `${CHAT}?api-version=1&x=a%20b`, ask("Hi"), {
      authorization: "Bearer key",
      "x-api-key": "key2",
      "anthropic-beta": "one,two",
      cookie: "a=b",
      connection: "close, X-Mine",
      "x-mine": "of this connection",
      "proxy-authorization": "Basic eA==",
      te: "trailers",
      via: "1.0 another",
      "accept-encoding": "gzip",
    });
    expect([reply.status, JSON.parse(reply.text)]).toEqual([200, answer]);
    const [sent] = upstream.received;
    expect(sent).toMatchObject({ url: `${CHAT}?api-version=1&x=a%20b`, json: ask("Hi") });
    expect(sent?.headers).toMatchObject({
      authorization: "Bearer key",
      "x-api-key": "key2",
      "anthropic-beta": "one,two",
      cookie: "a=b",
      via: "1.0 another, 1.1 guard",
      "accept-encoding": "identity",
      host: new URL(upstream.url).host,
    });
    for (const name of ["x-mine", "proxy-authorization", "te"]) expect(sent?.headers).not.toHaveProperty(name);
  });

  it("is the upstream response, with all of its cookies", async () => {
    const { url } = await startedProxy(upstream.url);
    const cookies = ["a=1; Path=/", "b=2; Expires=Wed, 21 Oct 2026 07:28:00 GMT"];
    const headers = { "set-cookie": cookies as unknown as string, "x-own": "1", "proxy-authenticate": "Basic" };
    upstream.answers = [{ json: answer, headers }];
    const reply = await post(url, CHAT, ask("Hi"));
    expect(reply.headers).toMatchObject({ "set-cookie": cookies, "x-own": "1" });
    expect(reply.headers).not.toHaveProperty("proxy-authenticate");
    expect(Number(reply.headers["content-length"] ?? reply.text.length)).toBe(reply.text.length);
  });

  it("has the request id if upstream returns none", async () => {
    const { url, calls } = await startedProxy(upstream.url);
    upstream.answers = [{ json: answer }];
    expect((await post(url, CHAT, ask("Hi"), { "x-request-id": "mine-7" })).headers["x-request-id"]).toBe("mine-7");
    await expect.poll(calls).toMatchObject([{ reqId: "mine-7" }]);
  });

  it.each([
    ["sends the client elsewhere", { status: 307, headers: { location: "https://example.org/" } }],
    ["has compressed its answer", { headers: { "content-encoding": "gzip" }, pieces: [gzipSync("{}")] }],
    ["answers what is no JSON", { headers: { "content-type": "application/json" }, pieces: ["<html>"] }],
  ])("is replaced by 502 if upstream %s", async (_, given) => {
    const { url } = await startedProxy(upstream.url);
    upstream.answers = [given];
    const reply = await post(url, CHAT, ask("Hi"));
    expect(reply.status).toBe(502);
    expect(JSON.parse(reply.text)).toMatchObject({ error: { type: "api_error", message: expect.any(String) } });
    expect(reply.headers).not.toHaveProperty("location");
  });
});

describe("paths of guard proxy", () => {
  it("of a stored answer are guarded when it is fetched", async () => {
    const { url, calls } = await startedProxy(upstream.url);
    const kept = (text: string) => {
      const content = [{ type: "output_text", text, annotations: [] }];
      return { id: "resp_1", object: "response", output: [{ type: "message", role: "assistant", content }] };
    };
    upstream.answers = [{ json: kept("Fine.") }, { json: kept("It was leaked.") }];
    expect(JSON.parse((await raw(url, "GET", "/v1/responses/resp_1")).text)).toEqual(kept("Fine."));
    const blocked = await raw(url, "GET", "/v1/responses/resp_1");
    expect([blocked.status, blocked.text]).toEqual([400, expect.not.stringContaining("leaked")]);
    await expect.poll(calls).toMatchObject([{ outcome: "passed" }, { outcome: "blocked" }]);
  });

  it("are forwarded without the length of a dropped body", async () => {
    const { url } = await startedProxy(upstream.url);
    upstream.answers = [{ json: {} }, { json: answer }];
    for (const path of ["/v1/models/gpt", `${CHAT}/chatcmpl-1`]) {
      const next = "POST /v1/files HTTP/1.1\r\nhost: x\r\n\r\n";
      const reply = await raw(url, "GET", path, { "content-length": next.length }, next);
      expect([reply.status, upstream.received.at(-1)?.text]).toEqual([200, ""]);
      expect(upstream.received.at(-1)?.headers).not.toHaveProperty("content-length");
    }
    expect(upstream.received.map(({ method }) => method)).toEqual(["GET", "GET"]);
  });

  it("count as JSON without a content type", async () => {
    const { url } = await startedProxy(upstream.url);
    upstream.answers = [{ json: answer }];
    const body = JSON.stringify(ask("Hi"));
    expect((await raw(url, "POST", CHAT, {}, body)).status).toBe(200);
    expect(upstream.received[0]?.json).toEqual(ask("Hi"));
    expect((await raw(url, "POST", CHAT, { "content-type": ";;" }, body)).status).toBe(415);
    expect(upstream.received).toHaveLength(1);
  });

  it("of calls require a body", async () => {
    const { url } = await startedProxy(upstream.url);
    expect((await raw(url, "POST", CHAT)).status).toBe(405);
    expect((await raw(url, "POST", CHAT, { "transfer-encoding": "chunked" })).status).toBe(400);
    expect(upstream.received).toEqual([]);
  });

  it.each([
    ["POST", "/v1/files"],
    ["POST", "/v1/fine_tuning/jobs"],
    ["POST", "/"],
    ["GET", "/v1/responses/resp_1/input_items"],
    ["GET", "/v1/files/file-1/content"],
    ["DELETE", "/v1/models/mine"],
    ["GET", "/v1/realtime"],
    ["OPTIONS", CHAT],
    ["GET", CHAT],
    ["PUT", CHAT],
    ["POST", "/v1/chat%2fcompletions"],
    ["POST", "http://127.0.0.1:1/v1/chat/completions"],
    ["POST", "/%"],
    ["POST", "/healthz"],
  ])("%s %s is rejected", async (method, path) => {
    const { url } = await startedProxy(upstream.url);
    const reply = await raw(url, method, path, JSON_TYPE, method === "POST" ? JSON.stringify(ask("Hi")) : "");
    expect(reply.status).toBe(path === CHAT ? 405 : 404);
    expect(JSON.parse(reply.text)).toMatchObject({ error: { type: "invalid_request_error" } });
    expect(upstream.received).toEqual([]);
  });

  it.each([
    "/v1/./chat//completions",
    "/v1/models/../chat/completions",
    "/v1/chat/complet%69ons",
    "/v1/models/%2e%2e/chat/completions/",
  ])("%s is normalized, and then guarded", async (path) => {
    const { url } = await startedProxy(upstream.url, { pass: ["/v1/*"] });
    upstream.answers = [{ json: answer }];
    expect((await post(url, path, ask("forbidden"))).status).toBe(400);
    expect(upstream.received).toEqual([]);
    expect((await post(url, path, ask("Hi"))).status).toBe(200);
    expect(upstream.received[0]?.url).toMatch(/^\/v1\/chat\/completions\/?$/);
  });

  it.each([
    "/v1/files/..%2Fchat%2Fcompletions",
    "/v1/files/..%2f../v1/responses",
    "/v1/files/x%2F..%2F..%2Fresponses",
    "/v1/files/..%5Cchat%5Ccompletions",
    "/v1/files/%252e%252e%252Fchat%252Fcompletions",
    "/v1/files/..;/chat",
    "/v1/files/a%2Fchat%2Fcompletions",
    "/v1/files/..%2Fanything",
    "/v1/files/chat/completions;a=1",
  ])("%s may be another one for the upstream, and is not sent", async (path) => {
    const { url } = await startedProxy(upstream.url, { pass: ["/v1/files/*"] });
    upstream.answers = [{ json: answer }];
    expect((await post(url, path, ask("forbidden"))).status).toBeGreaterThanOrEqual(400);
    expect(upstream.received).toEqual([]);
    expect((await raw(url, "GET", path.replace("files", "models"))).status).toBe(404);
    expect(upstream.received).toEqual([]);
  });

  it.each(["/v1/models/meta-llama%2FLlama-3.1-8B", "/v1/files/file-1/content", "/v1/files/a%20b..txt"])(
    "%s is one that may pass",
    async (path) => {
      const { url } = await startedProxy(upstream.url, { pass: ["/v1/files/*"] });
      upstream.answers = [{ json: {} }];
      expect((await raw(url, "GET", path)).status).toBe(200);
      expect(upstream.received[0]?.url).toBe(path);
    },
  );

  it("in the option pass are forwarded unchecked, both ways and of any size", async () => {
    const { url, calls } = await startedProxy(upstream.url, {
      pass: ["/v1/files", "/v1/batches/*"],
      maxBodySize: 2000,
    });
    upstream.answers = [{ headers: { "content-encoding": "gzip", "content-type": "text/x" }, pieces: [gzipSync("a")] }];
    const large = "forbidden ".repeat(1000);
    const reply = await raw(
      url,
      "POST",
      "/v1/files?a=1",
      { "content-type": "text/x", "accept-encoding": "gzip" },
      large,
    );
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({ "content-encoding": "gzip", "content-type": "text/x" });
    expect(upstream.received[0]).toMatchObject({
      url: "/v1/files?a=1",
      text: large,
      headers: { "accept-encoding": "gzip" },
    });
    expect((await raw(url, "GET", "/v1/batches/b/c")).status).toBe(200);
    expect((await raw(url, "GET", "/v1/files/x")).status).toBe(404);
    expect((await raw(url, "GET", "/v1/batches")).status).toBe(404);
    await expect.poll(calls).toMatchObject([{ call: "passed", status: 200 }, {}, { call: "refused" }, {}]);
  });

  it("of guard report its status, and can be forwarded instead", async () => {
    const { url } = await startedProxy(upstream.url, { pass: ["/metrics"] });
    upstream.answers = [{ json: { of: "upstream" } }];
    expect(JSON.parse((await raw(url, "GET", "/healthz")).text)).toEqual({ status: "alive" });
    expect(JSON.parse((await raw(url, "GET", "/readyz")).text)).toEqual({ status: "ready" });
    expect(JSON.parse((await raw(url, "GET", "/metrics")).text)).toEqual({ of: "upstream" });
    const own = await startedProxy(upstream.url);
    upstream.answers = [{ json: answer }];
    await post(own.url, CHAT, ask("Hi"));
    const { text } = await raw(own.url, "GET", "/metrics");
    expect(text).toMatch(/^guard_proxy_calls_total\{call="OpenAI [^"]*",outcome="passed"\} 1$/m);
    expect(text).toMatch(/^guard_proxy_calls_running 0$/m);
  });
});

describe("the log of guard proxy", () => {
  it("contains texts only with app.log_content", async () => {
    const app = { logLevel: "info", logJson: true } as const;
    upstream.answers = [{ json: answer }];
    const quiet = await startedProxy(upstream.url, { config: { app: { ...app, logContent: false } } });
    await post(quiet.url, `${CHAT}?key=secret`, ask("My words"));
    await expect.poll(quiet.calls).toHaveLength(1);
    expect(quiet.log.join("")).not.toMatch(/My words|secret|Hi\./);
    const open = await startedProxy(upstream.url, { config: { app: { ...app, logContent: true } } });
    await post(open.url, CHAT, ask("My words"));
    const { messages } = ask("My words");
    await expect.poll(open.calls).toMatchObject([{ content: { request: [{ messages }], answer: "Hi." } }]);
  });
});

describe("access to guard proxy", () => {
  it("is limited to this machine, unless there is a credential or --public", async () => {
    await expect(startedProxy(upstream.url, { host: "0.0.0.0" })).rejects.toThrow("--public");
    const { url } = await startedProxy(upstream.url, { host: "0.0.0.0", isPublic: true });
    expect(url).toMatch(/^http:/);
  });

  it("requires guard's credential, which is not forwarded", async () => {
    const app = { logLevel: "info", logJson: true, logContent: false } as const;
    const auth = [{ type: "api_key" as const, header: "X-Guard-Key", keys: ["secret"] }];
    const { url } = await startedProxy(upstream.url, { config: { app, auth } });
    upstream.answers = [{ json: answer }];
    expect((await post(url, CHAT, ask("Hi"), { authorization: "Bearer key" })).status).toBe(401);
    const headers = { authorization: "Bearer key", "x-guard-key": "secret" };
    expect((await post(url, CHAT, ask("Hi"), headers)).status).toBe(200);
    expect(upstream.received).toHaveLength(1);
    expect(upstream.received[0]?.headers).toMatchObject({ authorization: "Bearer key" });
    expect(upstream.received[0]?.headers).not.toHaveProperty("x-guard-key");
    const bearer = { app, auth: [{ type: "http_bearer" as const, token: "secret" }] };
    await expect(startedProxy(upstream.url, { config: bearer })).rejects.toThrow("auth.0");
  });
});

describe("options of guard proxy", () => {
  it.each([
    [{ upstreams: [] }, "upstream: is required"],
    [{ upstreams: ["api.openai.com"] }, "upstream.0: expected an address"],
    [{ upstreams: ["ftp://a"] }, "upstream.0: expected an address"],
    [{ upstreams: ["https://ann:pw@a"] }, "upstream.0: remove the credential from the address"],
    [{ upstreams: ["https://a?b=c"] }, "upstream.0: expected an address without"],
    [{ upstreams: ["/a b=https://a"] }, "upstream.0: expected a prefix"],
    [{ upstreams: ["https://a", "https://b"] }, "upstream: two upstreams have the same prefix"],
    [{ pass: ["v1/files"] }, "pass.0: "],
    [{ maxCalls: 0 }, "maxCalls: "],
  ])("%j are rejected", async (options, message) => {
    await expect(startedProxy(upstream.url, options)).rejects.toThrow(message);
  });
});
