import { describe, expect, it, onTestFinished } from "vitest";
import { checkConfig } from "../../src/config/index.ts";
import { localGuard } from "../../src/proxy/local-guard.ts";
import { remoteGuard } from "../../src/proxy/remote-guard.ts";
import type { ProxyGuard } from "../../src/proxy/settings.ts";
import { startProxy } from "../../src/proxy/start-proxy.ts";
import { startServer } from "../../src/server/index.ts";
import { reviewingScanner } from "../../test/server/fixtures.ts";
import { upstreamForTests } from "../../test/support/upstream.ts";

const upstream = upstreamForTests();

async function proxyWith(guard: ProxyGuard) {
  const log: string[] = [];
  const options = { upstreams: [upstream.url], port: 0, logger: { write: (line: string) => void log.push(line) } };
  const proxy = await startProxy({ ...options, guard: () => guard });
  onTestFinished(() => proxy.close());
  upstream.answers = [{ json: { choices: [{ message: { role: "assistant", content: "Well." } }] } }];
  const ask = async (content: string) => {
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content }] });
    const headers = { "content-type": "application/json" };
    return fetch(`${proxy.url}/v1/chat/completions`, { method: "POST", headers, body });
  };
  const call = () => log.map((line) => JSON.parse(line)).find(({ msg }) => msg === "request");
  return { ask, call };
}

async function serverWith(review: "hold" | "pass") {
  const server = await startServer({
    config: { app: { logLevel: "silent", review } },
    scanners: { input: [reviewingScanner()], output: [] },
    port: 0,
  });
  await server.loaded;
  onTestFinished(() => server.close());
  return server;
}

describe("a call in review behind guard proxy", () => {
  it("is refused with the id of its review, until a person has approved it", async () => {
    const server = await serverWith("hold");
    const { ask, call } = await proxyWith(remoteGuard(server.url));
    const reply = await ask("Again, p=0.7");
    const { error } = (await reply.json()) as { error: { code: string; message: string } };
    const [id] = /rv-[0-9a-f]{24}/.exec(error.message) ?? [];
    expect([reply.status, error.code]).toEqual([400, "review_required"]);
    expect(reply.headers.get("x-guard-outcome")).toBe("review");
    expect(reply.headers.get("x-guard-review")).toBe(id);
    expect(call()).toMatchObject({
      ...{ outcome: "review", flagged: [], reviews: [id] },
      in_review: ["PromptInjection", "PromptInjection[window]"],
    });
    expect(upstream.received).toEqual([]);
    const decision = { method: "POST", headers: { "content-type": "application/json" } };
    const body = JSON.stringify({ decision: "approve", reason: "known" });
    expect((await fetch(`${server.url}/reviews/${id}`, { ...decision, body })).status).toBe(204);
    const approved = await ask("Again, p=0.7");
    expect([approved.status, approved.headers.get("x-guard-outcome")]).toEqual([200, null]);
    expect(upstream.received).toHaveLength(1);
  });

  it("is forwarded with headers if the server lets it pass", async () => {
    const { ask } = await proxyWith(remoteGuard((await serverWith("pass")).url));
    const reply = await ask("Again, p=0.7");
    expect([reply.status, reply.headers.get("x-guard-outcome")]).toEqual([200, "review"]);
    expect(reply.headers.get("x-guard-review")).toMatch(/^rv-/);
    expect(upstream.received).toHaveLength(1);
  });

  it("has no id with scanners of the proxy", async () => {
    const threshold = { threshold: 0.99, review_threshold: 0 };
    const config = checkConfig({ inputScanners: [{ type: "Gibberish", params: threshold }] });
    const guard = await localGuard(config);
    await guard.load();
    const { ask } = await proxyWith(guard);
    const reply = await ask("Where is the nearest railway station in this town, and when does the next train go?");
    const { error } = (await reply.json()) as { error: { code: string; message: string } };
    expect([reply.status, error.code]).toEqual([400, "review_required"]);
    expect(error.message).toBe("The request is held by guard until a person has approved it: Gibberish.");
    expect(reply.headers.get("x-guard-review")).toBe(null);
  });
});
