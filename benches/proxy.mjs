// What guard proxy adds to calls of a model: the same calls of an upstream on this machine, directly and through proxies, in turns.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const CALLS = Number(process.argv[2] ?? 100);
/** Tokens of a streamed answer, and the milliseconds between two of them. */
const TOKENS = 40;
const EVERY = 5;

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
    const last = token === TOKENS;
    const delta = last ? {} : { content: `${words[token % words.length]} ` };
    const choices = [{ index: 0, delta, finish_reason: last ? "stop" : null }];
    reply.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices })}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, EVERY));
  }
  reply.end("data: [DONE]\n\n");
});
await new Promise((resolve) => upstream.listen(0, "127.0.0.1", resolve));
const direct = `http://127.0.0.1:${upstream.address().port}`;

/** Starts a proxy, and waits until its models are loaded. */
async function proxy(name, config) {
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

/** Milliseconds until the first token of an answer and until its end. */
function call(url, stream, content) {
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
      else resolve([first, performance.now() - start]);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const at = (list, share) =>
  list
    .toSorted((a, b) => a - b)
    [Math.floor(share * (list.length - 1))].toFixed(1)
    .padStart(7);

try {
  const ways = { direct };
  for (const [name, config] of Object.entries(configs)) ways[`proxy, ${name}`] = await proxy(name, config);
  for (const stream of [false, true]) {
    const results = Object.fromEntries(Object.keys(ways).map((way) => [way, { first: [], whole: [] }]));
    for (let index = -40; index < CALLS; index++) {
      for (const [way, url] of Object.entries(ways)) {
        // Each call has a text of its own, so that nothing can be answered from a cache.
        const content = `Ticket ${index}: the meeting about the budget is at noon in room ${index + 20}, please bring the figures.`;
        const [first, whole] = await call(url, stream, content);
        // The first calls only warm up.
        if (index < 0) continue;
        results[way].first.push(first);
        results[way].whole.push(whole);
      }
    }
    console.log(
      stream ? `\nA stream of ${TOKENS} tokens, one each ${EVERY} ms, in milliseconds:` : "A call, in milliseconds:",
    );
    for (const [way, { first, whole }] of Object.entries(results)) {
      const row = stream
        ? [
            ["first token", first],
            ["whole", whole],
          ]
        : [["whole", whole]];
      console.log(
        way.padEnd(34),
        row.map(([what, list]) => `${what}  p50${at(list, 0.5)}  p95${at(list, 0.95)}`).join("   "),
      );
    }
  }
} finally {
  for (const child of children) child.kill();
  upstream.close();
  upstream.closeAllConnections();
  rmSync(folder, { recursive: true });
}
