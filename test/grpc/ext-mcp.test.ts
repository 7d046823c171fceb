import { createRequire } from "node:module";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkConfig } from "../../src/config/index.ts";
import { EXT_MCP, type McpMessage, type McpResult } from "../../src/grpc/ext-mcp/messages.ts";
import { type ExtMcpOptions, startExtMcp } from "../../src/grpc/start-ext-mcp.ts";
import { grpc } from "../support/ext-proc-client.ts";

const require = createRequire(import.meta.url);
const protoLoader = require("@grpc/proto-loader") as { fromJSON(root: object): Record<string, object> };
const root = { nested: { agentgateway: { nested: { dev: { nested: { ext_mcp: { nested: EXT_MCP } } } } } } };
const definition = protoLoader.fromJSON(root)["agentgateway.dev.ext_mcp.ExtMcp"] as object;

/** The client of a gateway. */
interface Gateway {
  checkRequest: Check;
  checkResponse: Check;
  close(): void;
}
type Check = (message: McpMessage, onReply: (error: { code: number } | null, result: McpResult) => void) => void;

const CONFIG = checkConfig({
  inputScanners: [
    { type: "BanSubstrings", params: { substrings: ["forbidden"], redact: true } },
    { type: "BanSubstrings", name: "Never", params: { substrings: ["unspeakable"] } },
  ],
  app: { lazyLoad: true },
  conversation: {
    scan: { tool: ["BanSubstrings", "Never"], tool_call: ["BanSubstrings"], tool_definition: ["BanSubstrings"] },
  },
} as never);

async function started(options: Partial<ExtMcpOptions> = {}) {
  const log: string[] = [];
  const logger = { write: (line: string) => log.push(line) };
  const server = await startExtMcp({ config: CONFIG, port: 0, httpPort: 0, logger, ...options });
  const Client = grpc.makeGenericClientConstructor(definition, "ExtMcp") as unknown as new (
    address: string,
    credentials: object,
  ) => Gateway;
  const gateway = new Client(`127.0.0.1:${server.grpcPort}`, grpc.credentials.createInsecure());
  onTestFinished(() => server.close());
  onTestFinished(() => gateway.close());
  const check = (name: "checkRequest" | "checkResponse", message: McpMessage) =>
    new Promise<McpResult>((resolve, reject) => {
      gateway[name](message, (error, result) => (error ? reject(error) : resolve(result)));
    });
  const bytes = (content: unknown) => Buffer.from(typeof content === "string" ? content : JSON.stringify(content));
  return {
    url: server.url,
    log,
    request: (method: string, params: unknown) => check("checkRequest", { method, mcpRequest: bytes(params) }),
    response: (method: string, result: unknown) => check("checkResponse", { method, mcpResponse: bytes(result) }),
    check,
  };
}

const call = (text: string) => ({
  name: "search",
  arguments: { query: text, limit: 12345678901234567890n.toString() },
});
const found = (text: string) => ({ content: [{ type: "text", text }], isError: false });

/** Returns what a result makes of a message. */
function contentOf(result: McpResult): unknown {
  return "mutated" in result ? JSON.parse(result.mutated.toString()) : result;
}

describe("a policy server for MCP", () => {
  it("passes and denies calls of tools", async () => {
    const { request, url } = await started();
    expect(await request("tools/call", call("cats"))).toMatchObject({ pass: {} });
    const denied = await request("tools/call", call("a forbidden cat"));
    expect(denied).toMatchObject({
      error: { code: 1, reason: expect.stringMatching(/did not send the arguments.*BanSub/) },
    });
    expect(JSON.stringify(denied)).not.toContain("forbidden");
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('guard_ext_mcp_checks_total{method="tools/call",side="request",result="error"} 1');
  });

  it("masks and blocks results, and keeps long numbers", async () => {
    const { response } = await started();
    expect(await response("tools/call", found("A cat."))).toMatchObject({ pass: {} });
    const masked = await response(
      "tools/call",
      '{"content":[{"type":"text","text":"A forbidden cat."}],"n":12345678901234567890}',
    );
    expect("mutated" in masked && masked.mutated.toString()).toMatch(/"text":"A \[.*\] cat\.".*12345678901234567890/);
    const blocked = contentOf(await response("tools/call", { ...found("It is unspeakable."), resultType: "complete" }));
    expect(blocked).toMatchObject({
      isError: true,
      resultType: "complete",
      content: [{ text: /guard blocked the result/ }],
    });
    const prompt = { messages: [{ role: "user", content: { type: "text", text: "It is unspeakable." } }] };
    expect(await response("prompts/get", prompt)).toMatchObject({ error: { code: 1 } });
  });

  it("removes definitions that fail from lists", async () => {
    const { response } = await started();
    const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: "object" } });
    const list = { tools: [tool("cats", "Finds cats."), tool("dogs", "A forbidden tool.")] };
    expect(contentOf(await response("tools/list", list))).toMatchObject({ tools: [{ name: "cats" }] });
  });

  it("denies what it cannot read, and passes messages without texts", async () => {
    const { request, response, check } = await started();
    for (const text of ["{", "[]", '{"name":"a","name":"b"}']) {
      expect(await request("tools/call", text)).toMatchObject({ error: { code: 3 } });
      expect(await response("tools/call", text)).toMatchObject({ error: { code: 3 } });
    }
    expect(await check("checkRequest", { method: "tools/list" })).toMatchObject({ pass: {} });
    expect(await response("ping", {})).toMatchObject({ pass: {} });
  });

  it("refuses large messages and too many", async () => {
    const { request } = await started({ maxMessageSize: 5000 });
    await expect(request("tools/call", call("x".repeat(6000)))).rejects.toMatchObject({ code: 8 });
    const busy = await started({ maxCalls: 1 });
    const results = await Promise.all(Array.from({ length: 20 }, () => busy.request("tools/call", call("cats"))));
    expect(results.filter((result) => "pass" in result && result.pass).length).toBeGreaterThan(0);
    for (const result of results) if ("error" in result && result.error) expect(result.error.code).toBe(2);
  });

  it("asks for a credential in the metadata", async () => {
    const auth = [{ type: "http_bearer", token: "a-token-of-the-gateway" }];
    const { request } = await started({ config: { ...CONFIG, auth } as never });
    await expect(request("tools/call", call("cats"))).rejects.toMatchObject({ code: 16 });
  });
});
