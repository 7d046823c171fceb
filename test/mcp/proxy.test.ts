import { fileURLToPath } from "node:url";
import { InMemoryTransport, type Transport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { McpProxy } from "../../src/mcp/proxy.ts";
import { serverOverStdio } from "../../src/mcp/transports.ts";
import { Anonymize, PromptInjection, Secrets } from "../../src/scanners/generated/input-scanners.ts";
import { guardWith, open, openSession, POISON, serverWith, textOf } from "./session.ts";

const injection = () => new PromptInjection({ classifier: (text) => (text.includes("Ignore all previous") ? 1 : 0) });
const scanners = () => {
  const detector = injection();
  return { tool: [detector], tool_definition: [detector], tool_call: [new Secrets()] };
};

describe("a real server behind guard", () => {
  it("works as without guard", async () => {
    const command = fileURLToPath(
      new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
    );
    const { client, proxy } = await openSession(serverOverStdio(process.execPath, [command, "stdio"]), scanners());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("echo");
    expect(textOf(await client.callTool({ name: "echo", arguments: { message: "hello" } }))).toContain("hello");
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0);
    const { resources } = await client.listResources();
    expect((await client.readResource({ uri: resources[0]?.uri as string })).contents).toHaveLength(1);
    await client.close();
    expect(await proxy.ended).toBe("client");
  });
});

describe("a poisoned server behind guard", () => {
  it("shows no poisoned tools, and no instructions", async () => {
    const server = await serverWith({
      good: { description: "Says it again.", run: (text) => text },
      bad: { description: POISON, run: (text) => text },
    });
    const { client, lines } = await openSession(server, scanners());
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["good"]);
    expect(client.getInstructions()).toBeUndefined();
    const refused = await client.callTool({ name: "bad", arguments: { text: "x" } });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain('guard removed the tool "bad"');
    expect(lines.join("\n")).toContain('removed the tool "bad": it failed PromptInjection[tool_definition]');
    expect(lines.join("\n")).not.toContain(POISON);
  });

  it("has its results blocked with a message for agents", async () => {
    const server = await serverWith({ read: { description: "Reads.", run: () => JSON.stringify({ body: POISON }) } });
    const { client } = await openSession(server, scanners());
    const result = await client.callTool({ name: "read", arguments: { text: "x" } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("it failed PromptInjection[tool]");
    expect(JSON.stringify(result)).not.toContain(POISON);
  });

  it("keeps the rest of a result after an injection is cut out, unless findings block", async () => {
    const rest = "The meeting is at noon. Bring the figures.";
    const run = () => JSON.stringify({ from: "Jane", body: `The meeting is at noon. ${POISON} Bring the figures.` });
    const tools = { read: { description: "Reads.", run } };
    const masked = await openSession(await serverWith(tools), scanners());
    const result = await masked.client.callTool({ name: "read", arguments: { text: "x" } });
    expect(result.isError).toBeFalsy();
    expect(JSON.parse(textOf(result))).toEqual({ from: "Jane", body: rest });
    expect(masked.lines.join("\n")).toContain('masked the result of tools/call "read"');
    const blocked = await openSession(await serverWith(tools), scanners(), { onFinding: "block" });
    expect((await blocked.client.callTool({ name: "read", arguments: { text: "x" } })).isError).toBe(true);
  });

  it("never receives arguments with a secret", async () => {
    const seen: string[] = [];
    const run = (text: string) => {
      seen.push(text);
      return "ok";
    };
    const { client } = await openSession(await serverWith({ send: { description: "Sends.", run } }), scanners());
    const result = await client.callTool({ name: "send", arguments: { text: 'password = "Tr0ub4dor&3x9"' } });
    expect(result.isError).toBe(true);
    expect(seen).toEqual([]);
  });
});

describe("personal data", () => {
  it("is replaced by placeholders, and only named tools receive the values", async () => {
    const seen: string[] = [];
    const run = (text: string) => {
      seen.push(text);
      return "sent";
    };
    const server = await serverWith({
      find: { description: "Finds.", run: () => "Write to jane.doe@gmail.com." },
      mail: { description: "Mails.", run },
      post: { description: "Posts.", run },
    });
    const lists = { tool: [new Anonymize({ recognizerConf: [] })] };
    const { client } = await openSession(server, lists, { restore: ["mail"] });
    const found = textOf(await client.callTool({ name: "find", arguments: { text: "" } }));
    expect(found).toBe("Write to [REDACTED_EMAIL_ADDRESS_1].");
    for (const name of ["mail", "post"]) await client.callTool({ name, arguments: { text: found } });
    expect(seen).toEqual(["Write to jane.doe@gmail.com.", found]);
  });
});

describe("a failing check", () => {
  it("never passes", async () => {
    const broken = new PromptInjection({
      classifier: () => {
        throw new Error(POISON);
      },
    });
    const { client, lines } = await openSession(
      await serverWith({ read: { description: "Reads.", run: () => "Some harmless words." } }),
      { tool: [broken] },
    );
    const result = await client.callTool({ name: "read", arguments: { text: "x" } });
    expect(textOf(result)).toContain("it could not be checked");
    expect(lines.join("\n")).not.toContain(POISON);
  });
});

describe("a stream", () => {
  it("may end while its answer is judged", async () => {
    const answered: unknown[] = [];
    const [client, theirs] = InMemoryTransport.createLinkedPair();
    client.onmessage = (message) => void answered.push(message);
    const server: Transport = {
      start: async () => {},
      close: async () => {},
      async send(message, options) {
        const result = { content: [{ type: "text", text: "done" }] };
        server.onmessage?.({ jsonrpc: "2.0", id: (message as { id: number }).id, result });
        options?.onRequestStreamEnd?.();
      },
    };
    const proxy = new McpProxy({ client: theirs, server, guard: guardWith(scanners()), log: () => {} });
    await Promise.all([proxy.start(), client.start()]);
    open.push(proxy);
    await client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "x", arguments: {} } });
    await expect.poll(() => answered).toHaveLength(1);
    expect(answered[0]).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } });
  });

  it("ignores answers to cancelled and unknown requests", async () => {
    const answered: unknown[] = [];
    const sent: unknown[] = [];
    const [client, theirs] = InMemoryTransport.createLinkedPair();
    client.onmessage = (message) => void answered.push(message);
    const server: Transport = {
      start: async () => {},
      close: async () => {},
      send: async (message) => void sent.push(message),
    };
    const proxy = new McpProxy({ client: theirs, server, guard: guardWith(scanners()), log: () => {} });
    await Promise.all([proxy.start(), client.start()]);
    open.push(proxy);
    await client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "x", arguments: {} } });
    await expect.poll(() => sent).toHaveLength(1);
    await client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await expect.poll(() => sent).toHaveLength(2);
    for (const id of [1, 7]) server.onmessage?.({ jsonrpc: "2.0", id, result: { content: [] } });
    await client.send({ jsonrpc: "2.0", id: 2, method: "ping" });
    await expect.poll(() => sent).toHaveLength(3);
    server.onmessage?.({ jsonrpc: "2.0", id: 2, result: {} });
    await expect.poll(() => answered).toEqual([{ jsonrpc: "2.0", id: 2, result: {} }]);
  });
});
