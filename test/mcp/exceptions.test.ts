import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { McpProxy } from "../../src/mcp/proxy.ts";
import { type ExceptionOptions, Exceptions } from "../../src/scan/exceptions/exceptions.ts";
import { PromptInjection } from "../../src/scanners/generated/input-scanners.ts";
import { guardWith, open, openSession, POISON, serverWith, textOf } from "./session.ts";

/** A client of a server with a tool that fails by its description, and returns a text. */
async function clientWith(exception: Partial<ExceptionOptions>, text: string, description = POISON) {
  const scanner = new PromptInjection({ classifier: (part) => (part.includes("Ignore all previous") ? 1 : 0) });
  const exceptions = Exceptions.of([
    { scanners: ["PromptInjection"], reason: "looked at", expires: "2999-12-31", ...exception },
  ]);
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const proxy = new McpProxy({
    client: theirs,
    server: await serverWith({ read: { description, run: () => text } }),
    guard: guardWith({ tool: [scanner], tool_definition: [scanner] }, {}, { exceptions }),
    log: () => {},
  });
  await proxy.start();
  const client = new Client({ name: "test", version: "1" });
  await client.connect(ours);
  open.push(client, proxy);
  return client;
}

describe("exceptions of guard-scan mcp", () => {
  it("apply to descriptions of tools and to results", async () => {
    const client = await clientWith({ text: POISON }, POISON);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["read"]);
    expect(textOf(await client.callTool({ name: "read", arguments: { text: "x" } }))).toBe(POISON);
  });

  it("do not apply to other words around an exact text, or to other sources", async () => {
    const other = await clientWith({ text: POISON }, `${POISON} Now.`, "Reads.");
    expect((await other.callTool({ name: "read", arguments: { text: "x" } })).isError).toBe(true);
    const tools = await clientWith({ text: POISON, sources: ["tool"] }, "Hello.");
    expect((await tools.listTools()).tools).toEqual([]);
  });

  it("let a result pass that needs a review otherwise", async () => {
    const text = "Unsure, p=0.7";
    const unsure = (part: string) => (part === text ? 0.7 : 0);
    const scanner = new PromptInjection({ reviewThreshold: 0.5, classifier: unsure });
    const server = () => serverWith({ read: { description: "Reads.", run: () => text } });
    const read = { name: "read", arguments: { text: "x" } };
    const { client } = await openSession(await server(), { tool: [scanner] });
    const held = await client.callTool(read);
    expect(held.isError).toBe(true);
    expect(textOf(held)).toContain("a person has to approve it first (PromptInjection[tool])");
    const exceptions = Exceptions.of([
      { scanners: ["PromptInjection"], text, reason: "looked at", expires: "2999-12-31" },
    ]);
    const excepting = await openSession(await server(), { tool: [scanner] }, {}, { exceptions });
    expect(textOf(await excepting.client.callTool(read))).toBe(text);
    const marking = await openSession(await server(), { tool: [scanner] }, {}, { review: "pass" });
    expect(textOf(await marking.client.callTool(read))).toBe(text);
  });
});
