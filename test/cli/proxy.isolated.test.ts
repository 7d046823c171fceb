import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createServer as createGuardServer } from "../../src/server/index.ts";
import { wordScanner } from "../server/fixtures.ts";
import { startCliServer } from "../support/cli-server.ts";

/** The prompts that the upstream received. */
let prompts: string[] = [];
let upstream: Server;
const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  upstream = createServer(async (request, reply) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    prompts.push(JSON.parse(text).messages[0].content);
    const message = { role: "assistant", content: "Fine." };
    reply.setHeader("content-type", "application/json");
    reply.end(JSON.stringify({ choices: [{ index: 0, finish_reason: "stop", message }] }));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  upstream.closeAllConnections();
  upstream.close();
});

const run = (args: readonly string[], env: Record<string, string> = {}) => startCliServer("proxy", args, env);

const ask = (url: string, content: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content }] }),
  });

describe("guard-scan proxy", () => {
  it("calls a guard server, loads no addon, and exits on SIGTERM", async () => {
    prompts = [];
    const server = await createGuardServer({
      config: { auth: [{ type: "http_bearer", token: "of-guard" }] },
      scanners: { input: [wordScanner("zebra")] },
      logger: { write() {} },
    });
    onTestFinished(() => server.close());
    const guard = await server.listen({ port: 0, host: "127.0.0.1" });
    const { child, code, log } = run(["--upstream", addressOf(upstream), "--guard", guard, "--port", "0"], {
      GUARD_TOKEN: "of-guard",
      // A process that loads the addon would fail.
      NAPI_RS_NATIVE_LIBRARY_PATH: "/nowhere/guard.node",
      NODE_OPTIONS: "",
    });
    await expect.poll(() => log.find(({ msg }) => msg === "guarding"), { timeout: 30_000 }).toBeDefined();
    const url = String(log.find(({ msg }) => msg === "guarding")?.url);
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await ask(url, "a zebra")).status).toBe(400);
    expect((await ask(url, "a horse")).status).toBe(200);
    expect(prompts).toEqual(["a horse"]);
    expect(JSON.stringify(log)).not.toMatch(/zebra|horse|of-guard/);
    child.kill("SIGTERM");
    // Windows terminates a process at once, whatever the signal.
    if (process.platform !== "win32") expect(await code).toBe(0);
  });

  it.each([
    [[], "give --upstream URL"],
    [["--upstream", "https://a", "--config", "a.yml", "--guard", "http://b"], "give it or --guard"],
    [["--upstream", "https://a", "--guard", "b"], "url: expected an address"],
    [["--upstream", "https://a", "--guard", "http://b", "--host", "0.0.0.0"], "Allow it with --public"],
  ])("%j is explained as a mistake", async (args, message) => {
    const { code, stderr } = run(args);
    expect(await code).toBe(2);
    expect(stderr()).toContain(message);
    expect(stderr()).not.toMatch(/^\s+at /m);
  });
});
