import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { createServer } from "../../src/server/index.ts";

/** Starts a server, and returns a function that sends a prompt with further headers. */
async function serving(config: ConfigInput = {}) {
  const app = await createServer({
    inputScanners: [{ type: "InvisibleText" }],
    ...config,
    app: { logLevel: "silent", ...config.app },
  });
  onTestFinished(async () => void (await app.close()));
  const { port } = new URL(await app.listen({ port: 0, host: "127.0.0.1" }));
  const send = (headers: Record<string, string>, path = "/scan/prompt") =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request({ port, host: "127.0.0.1", path, method: "POST", headers }, (reply) => {
        reply.resume().once("end", () => resolve(reply.statusCode));
      });
      sent.once("error", reject).end('{"prompt": "Hello."}');
    });
  const json = { "content-type": "application/json" };
  return { port, send: (headers: Record<string, string>) => send({ ...json, ...headers }), sendRaw: send };
}

describe("a server without auth", () => {
  it("serves clients and pages of this machine", async () => {
    const { port, send } = await serving();
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, "127.0.0.9"];
    for (const host of hosts) expect(await send({ host }), host).toBe(200);
    const own = `127.0.0.1:${port}`;
    expect(await send({ host: own, origin: `http://${own}`, "sec-fetch-site": "same-origin" })).toBe(200);
  });

  it.each([
    "evil.example",
    "127.0.0.1.evil.example",
    "10.0.0.5:8000",
    "localhost.evil.example:80",
    "[2001:db8::1]",
    "a b",
  ])("refuses the host %s, which may be resolved to this machine by an attacker", async (host) => {
    const { send } = await serving();
    expect(await send({ host })).toBe(421);
  });

  it.skipIf(process.platform === "win32")("serves every host on a Unix socket", async () => {
    const folder = mkdtempSync(join(tmpdir(), "guard-socket-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "guard.sock");
    const app = await createServer({ inputScanners: [{ type: "InvisibleText" }], app: { logLevel: "silent" } });
    onTestFinished(async () => void (await app.close()));
    await app.listen({ path });
    const status = await new Promise((resolve, reject) => {
      const headers = { host: "guard", "content-type": "application/json" };
      const sent = request({ socketPath: path, path: "/scan/prompt", method: "POST", headers }, (reply) => {
        reply.resume().once("end", () => resolve(reply.statusCode));
      });
      sent.once("error", reject).end('{"prompt": "Hello."}');
    });
    expect(status).toBe(200);
  });

  it("serves hosts of its configuration", async () => {
    const { send } = await serving({ app: { allowedHosts: ["Guard.internal"] } });
    expect(await send({ host: "guard.internal:8000" })).toBe(200);
    expect(await send({ host: "other.internal" })).toBe(421);
  });

  it.each([
    ["another site", { origin: "https://evil.example" }],
    ["another port of this machine", { origin: "http://127.0.0.1:1" }],
    ["an opaque origin", { origin: "null" }],
    ["a form of another site", { "sec-fetch-site": "cross-site" }],
  ])("refuses requests of pages of %s", async (_what, headers) => {
    const { send } = await serving();
    expect(await send(headers as Record<string, string>)).toBe(403);
  });

  it.each([undefined, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])(
    "requires the content type of JSON, which pages may not send without permission (%s)",
    async (type) => {
      const { sendRaw } = await serving();
      expect(await sendRaw(type === undefined ? {} : { "content-type": type })).toBe(415);
    },
  );
});

describe("a server with auth", () => {
  it("serves every host and origin that has a credential", async () => {
    const { send } = await serving({ auth: { type: "http_bearer", token: "a-test-token" } });
    const headers = { authorization: "Bearer a-test-token", host: "guard.example", origin: "https://app.example" };
    expect(await send(headers)).toBe(200);
  });
});
