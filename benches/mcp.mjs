// What guard adds to each call of a tool: the same calls of a real server, directly and through `guard mcp`, in turns.
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const CALLS = 200;
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const server = [path("../node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"];
const ways = {
  direct: server,
  "guard mcp": [path("../dist/cli/main.js"), "mcp", "--", process.execPath, ...server],
};

const clients = {};
for (const [way, args] of Object.entries(ways)) {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  clients[way] = { client, milliseconds: [] };
}
for (let call = -10; call < CALLS; call++) {
  for (const { client, milliseconds } of Object.values(clients)) {
    // Each call has a text of its own, so that nothing can be answered from a cache.
    const message = `Ticket ${call}: the meeting about the budget is at noon in room ${call + 20}, please bring the figures.`;
    const start = performance.now();
    const { isError } = await client.callTool({ name: "echo", arguments: { message } });
    if (isError) throw new Error("a harmless call was blocked");
    // The first calls only warm up.
    if (call >= 0) milliseconds.push(performance.now() - start);
  }
}
console.log("Milliseconds of a tools/call with a short result:");
for (const [way, { client, milliseconds }] of Object.entries(clients)) {
  milliseconds.sort((a, b) => a - b);
  const at = (share) => milliseconds[Math.floor(share * (milliseconds.length - 1))].toFixed(2);
  console.log(`${way.padEnd(10)}  p50 ${at(0.5)}  p95 ${at(0.95)}  p99 ${at(0.99)}`);
  await client.close();
}
