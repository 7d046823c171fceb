import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fromJsonSchema, McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverOverHttp, serverOverStdio } from "../../src/mcp/transports.ts";
import { InvisibleText, PromptInjection, ToolDefinitions } from "../../src/scanners/generated/input-scanners.ts";
import { open, openSession, POISON, textOf } from "./session.ts";

const ofPackage = (path: string) =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/${path}`, import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "guard-mcp-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A server over streamable HTTP, and the requests that it received. */
async function httpServer(run: (text: string) => string) {
  const requests: { method: string; authorization: string | null }[] = [];
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => "session-1" });
  const server = new McpServer({ name: "http", version: "1" });
  const inputSchema = fromJsonSchema<{ text: string }>({ type: "object", properties: { text: { type: "string" } } });
  server.registerTool("read", { description: "Reads.", inputSchema }, ({ text }) => ({
    content: [{ type: "text", text: run(text) }],
  }));
  await server.connect(transport);
  const http = createServer(async (incoming, outgoing) => {
    const { method = "GET", url = "/" } = incoming;
    const request = new Request(`http://127.0.0.1${url}`, {
      method,
      headers: incoming.headers as Record<string, string>,
      ...(method === "POST" ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" } : {}),
    });
    requests.push({ method, authorization: request.headers.get("authorization") });
    const response = await transport.handleRequest(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
    if (!response.body) return outgoing.end();
    return Readable.fromWeb(response.body as never).pipe(outgoing);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  open.push(server, {
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  });
  return { url: new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`), requests };
}

describe("a server over streamable HTTP behind guard", () => {
  it("receives the headers, is checked, and is notified when the session ends", async () => {
    const { url, requests } = await httpServer((text) => (text === "mail" ? POISON : `It says ${text}.`));
    const injection = new PromptInjection({ classifier: (text) => (text.includes("Ignore all") ? 1 : 0) });
    const server = serverOverHttp(url, { Authorization: "Bearer abc" });
    const { client, proxy } = await openSession(server, {
      tool: [injection],
      tool_definition: [new ToolDefinitions()],
    });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["read"]);
    expect(textOf(await client.callTool({ name: "read", arguments: { text: "hello" } }))).toBe("It says hello.");
    const blocked = await client.callTool({ name: "read", arguments: { text: "mail" } });
    expect(blocked.isError).toBe(true);
    expect(JSON.stringify(blocked)).not.toContain("Ignore all");
    await client.close();
    expect(await proxy.ended).toBe("client");
    expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer abc"]));
    expect(requests.at(-1)?.method).toBe("DELETE");
  });
});

describe("server-filesystem behind guard", () => {
  it("keeps all its tools and reads files", async () => {
    await writeFile(join(folder, "notes.txt"), "The meeting is at noon. Bring the figures.");
    const server = serverOverStdio(process.execPath, [ofPackage("server-filesystem/dist/index.js"), folder]);
    const scanners = [new InvisibleText(), new ToolDefinitions()];
    const { client, lines } = await openSession(server, { tool: [new InvisibleText()], tool_definition: scanners });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("read_text_file");
    const read = await client.callTool({ name: "read_text_file", arguments: { path: join(folder, "notes.txt") } });
    expect(textOf(read)).toBe("The meeting is at noon. Bring the figures.");
    expect(lines.filter((line) => /removed|blocked|masked/.test(line))).toEqual([]);
  });
});

describe("guard mcp", () => {
  it("terminates the server when it is stopped, and keeps pins", async () => {
    const [config, pins, pid] = ["config.yml", "pins.json", "pid"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(config, "input_scanners:\n  - type: ToolDefinitions\n");
    const saysPid = `data:text/javascript,import fs from "node:fs";fs.writeFileSync(process.env.PID_FILE,String(process.pid))`;
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [
        ...[fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url)), "mcp", "--config", config],
        ...["--pins", pins, "--", process.execPath, "--import", saysPid, ofPackage("server-everything/dist/index.js")],
        "stdio",
      ],
      env: { ...(process.env as Record<string, string>), PID_FILE: pid },
      stderr: "ignore",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    const { tools } = await client.listTools();
    const { servers } = JSON.parse(await readFile(pins, "utf8"));
    expect(Object.keys(Object.values(servers)[0] as object).sort()).toEqual(tools.map(({ name }) => name).sort());
    if (process.platform !== "win32") expect((await stat(pins)).mode & 0o777).toBe(0o600);

    const server = Number(await readFile(pid, "utf8"));
    const isThere = (id: number) => {
      try {
        return process.kill(id, 0);
      } catch {
        return false;
      }
    };
    expect(isThere(server)).toBe(true);
    const guard = transport.pid as number;
    process.kill(guard, "SIGTERM");
    await expect.poll(() => isThere(guard) || isThere(server), { timeout: 15_000 }).toBe(false);
    await client.close();
  });
});
