// npm run bench:proxy [-- --quick]: the latency that `guard proxy` adds to model calls. The same calls go to an upstream on this machine,
// directly and through proxies with few and many scanners, in turn.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { percentile } from "./stats.mjs";
import { printTable } from "./table.mjs";

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean", default: false }, calls: { type: "string" } },
});
const CALLS = Number(flags.calls ?? (flags.quick ? 5 : 100));
const WARM_UP_CALLS = flags.quick ? 2 : 40;
/** Tokens of a streamed answer. */
const TOKENS = 40;
const TOKEN_INTERVAL_MS = 5;

const folder = mkdtempSync(join(tmpdir(), "guard-bench-proxy-"));
const configs = {
  "one word":
    "input_scanners:\n  - {type: BanSubstrings, params: {substrings: [zebra]}}\noutput_scanners:\n  - {type: BanSubstrings, params: {substrings: [zebra]}}\n",
  "secrets and personal data":
    "input_scanners:\n  - type: Secrets\n  - {type: Anonymize, params: {recognizer_conf: []}}\noutput_scanners:\n  - type: Deanonymize\n  - type: Sensitive\n    params: {recognizer_conf: [], redact: true}\n",
  "scanners.yml": undefined,
};
const cli = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const children = [];

const upstream = createServer(async (call, reply) => {
  let body = "";
  for await (const chunk of call) body += chunk;
  const { stream, messages } = JSON.parse(body);
  const words =
    `The answer to it: ${messages.at(-1).content} That is all that can be said about the matter for now. `.split(" ");
  const base = { id: "c", created: 1, model: "m" };
  if (!stream) {
    const message = { role: "assistant", content: words.join(" ") };
    reply.setHeader("content-type", "application/json");
    reply.end(
      JSON.stringify({ ...base, object: "chat.completion", choices: [{ index: 0, finish_reason: "stop", message }] }),
    );
    return;
  }
  reply.writeHead(200, { "content-type": "text/event-stream" });
  for (let token = 0; token <= TOKENS; token++) {
    const isLast = token === TOKENS;
    const delta = isLast ? {} : { content: `${words[token % words.length]} ` };
    const choices = [{ index: 0, delta, finish_reason: isLast ? "stop" : null }];
    reply.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices })}\n\n`);
    await sleep(TOKEN_INTERVAL_MS);
  }
  reply.end("data: [DONE]\n\n");
});
await new Promise((resolve) => upstream.listen(0, "127.0.0.1", resolve));
const direct = `http://127.0.0.1:${upstream.address().port}`;

/** Starts a proxy, waits until its models are loaded, and returns its URL. */
async function startProxy(name, config) {
  const args = [cli, "proxy", "--upstream", direct, "--port", "0"];
  const file = join(folder, `${name}.yml`);
  if (config) writeFileSync(file, config);
  const env = { ...process.env };
  delete env.CONFIG_FILE;
  const child = spawn(process.execPath, config ? [...args, "--config", file] : args, {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let url;
  for await (const line of createInterface(child.stdout)) {
    const entry = JSON.parse(line);
    url ??= entry.msg === "guarding" ? entry.url : undefined;
    if (entry.msg === "ready") break;
  }
  child.stdout.resume();
  return url;
}

/** Calls the model, and returns the milliseconds until the first token and until the end. */
function callModel(url, stream, content) {
  const body = JSON.stringify({ model: "m", stream, messages: [{ role: "user", content }] });
  const headers = { "content-type": "application/json", authorization: "Bearer none" };
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/chat/completions`, { method: "POST", headers }, async (reply) => {
      let first;
      let text = "";
      for await (const chunk of reply) {
        text += chunk;
        if (text.includes('"content":"')) first ??= performance.now() - start;
      }
      if (reply.statusCode !== 200 || first === undefined)
        reject(new Error(`status ${reply.statusCode}: ${text.slice(0, 300)}`));
      else resolve({ first, whole: performance.now() - start });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Sends the same calls along every route in turn. */
async function measure(routes, stream) {
  const times = Object.fromEntries(Object.keys(routes).map((route) => [route, []]));
  for (let index = -WARM_UP_CALLS; index < CALLS; index++) {
    for (const [route, url] of Object.entries(routes)) {
      // Each call has a distinct text, so that no cache helps.
      const content = `Ticket ${index}: the meeting about the budget is at noon in room ${index + 20}, please bring the figures.`;
      const taken = await callModel(url, stream, content);
      if (index >= 0) times[route].push(taken);
    }
  }
  return Object.entries(times).map(([route, calls]) => {
    const figures = { route, stream };
    for (const part of stream ? ["first", "whole"] : ["whole"]) {
      const list = calls.map((call) => call[part]);
      figures[part] = { p50: percentile(list, 50), p95: percentile(list, 95) };
    }
    return figures;
  });
}

const cells = ({ p50, p95 }) => [p50.toFixed(1), p95.toFixed(1)];
const machine = machineInfo();
console.log(formatMachine(machine));
try {
  const routes = { direct };
  for (const [name, config] of Object.entries(configs)) routes[`proxy, ${name}`] = await startProxy(name, config);
  const calls = await measure(routes, false);
  console.log(`\nA call, ${CALLS} rounds:`);
  printTable(
    ["", "p50 ms", "p95 ms"],
    calls.map(({ route, whole }) => [route, ...cells(whole)]),
  );
  const streams = await measure(routes, true);
  console.log(`\nA stream of ${TOKENS} tokens, one each ${TOKEN_INTERVAL_MS} ms, ${CALLS} rounds:`);
  printTable(
    ["", "first token p50 ms", "p95 ms", "whole p50 ms", "p95 ms"],
    streams.map(({ route, first, whole }) => [route, ...cells(first), ...cells(whole)]),
  );
  saveResults("proxy", { quick: flags.quick, machine, calls, streams });
} finally {
  for (const child of children) child.kill();
  upstream.close();
  upstream.closeAllConnections();
  rmSync(folder, { recursive: true });
}
