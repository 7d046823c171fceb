// npm run bench:mcp [-- --quick]: the latency that guard adds to a tool call. The same calls go to a real MCP server, directly and
// through `guard mcp`, in turn.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { percentile } from "./stats.mjs";
import { formatNumber, printTable } from "./table.mjs";

const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const WARM_UP_CALLS = flags.quick ? 3 : 10;
const CALLS = flags.quick ? 20 : 200;
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const server = [path("../node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"];
const routes = {
  direct: server,
  "guard mcp": [path("../dist/cli/main.js"), "mcp", "--", process.execPath, ...server],
};

const machine = machineInfo();
console.log(formatMachine(machine));
const clients = {};
for (const [route, args] of Object.entries(routes)) {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  clients[route] = { client, times: [] };
}
for (let call = -WARM_UP_CALLS; call < CALLS; call++) {
  for (const { client, times } of Object.values(clients)) {
    // Each call has a distinct text, so that no cache helps.
    const message = `Ticket ${call}: the meeting about the budget is at noon in room ${call + 20}, please bring the figures.`;
    const start = performance.now();
    const { isError } = await client.callTool({ name: "echo", arguments: { message } });
    if (isError) throw new Error("a harmless call was blocked");
    if (call >= 0) times.push(performance.now() - start);
  }
}
const rows = Object.entries(clients).map(([route, { times }]) => {
  const [p50, p95, p99] = [50, 95, 99].map((percent) => percentile(times, percent));
  return { route, p50, p95, p99 };
});
for (const { client } of Object.values(clients)) await client.close();

console.log(`tools/call with a short result, ${CALLS} calls:`);
printTable(
  ["", "p50 ms", "p95 ms", "p99 ms"],
  rows.map(({ route, p50, p95, p99 }) => [route, ...[p50, p95, p99].map(formatNumber)]),
);
saveResults("mcp", { quick: flags.quick, machine, rows });
