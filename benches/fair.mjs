// npm run bench:fair [-- --seconds 20]
// How long short prompts take while others send long documents all the time: what a person waits for in a chat beside somebody's batch.
import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describe, machineNow } from "./machine.mjs";
import { apart, withServer } from "./server.mjs";
import { printTable } from "./table.mjs";
import { prompts, SENTENCES } from "./texts/prompts.mjs";
import { random } from "./texts/random.mjs";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "20" },
    connections: { type: "string", default: "32" },
    documents: { type: "string", default: "1" },
    chars: { type: "string", default: "40000" },
    config: { type: "string", default: fileURLToPath(new URL("../scanners.yml", import.meta.url)) },
  },
});
const [seconds, connections, documents, chars] = ["seconds", "connections", "documents", "chars"].map((name) =>
  Number(values[name]),
);
const agent = new Agent({ keepAlive: true, maxSockets: 4096 });
const short = prompts(3);
const next = random(41);

/** A document of which no two are equal, so that no cache helps. */
function document() {
  const sentences = [`${Math.floor(next() * 1e9)}`];
  for (let length = 0; length < chars; ) {
    const sentence = SENTENCES[Math.floor(next() * SENTENCES.length)];
    sentences.push(sentence);
    length += sentence.length + 1;
  }
  return sentences.join(" ").slice(0, chars);
}

function post(url, prompt) {
  const body = JSON.stringify({ prompt });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const call = request(`${url}/analyze/prompt`, { method: "POST", agent, headers }, (reply) => {
      reply.resume().on("end", () => resolve({ status: reply.statusCode, ms: performance.now() - start }));
    });
    call.on("error", reject);
    call.end(body);
  });
}

/** Keeps so many requests under way until the time is over. */
async function loop(url, count, text, end) {
  const replies = [];
  const one = async () => {
    while (performance.now() < end) replies.push(await post(url, text()));
  };
  await Promise.all(Array.from({ length: count }, one));
  return replies;
}

function row(name, replies) {
  const times = replies.filter(({ status }) => status === 200).map(({ ms }) => ms);
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  const refused = replies.length - times.length;
  return { name, perSecond: times.length / seconds, refused, p50: at(0.5), p99: at(0.99), max: at(1) };
}

console.log(describe(machineNow()));
const measure = async ({ url }) => {
  await loop(url, 8, short, performance.now() + 2000);
  await loop(url, 1, document, performance.now() + 2000);
  const end = () => performance.now() + seconds * 1000;
  const alone = await loop(url, connections, short, end());
  const until = end();
  const [beside, long] = await Promise.all([
    loop(url, connections, short, until),
    loop(url, documents, document, until),
  ]);
  return [row("prompts alone", alone), row("prompts beside documents", beside), row("documents", long)];
};
const rows = await withServer(values.config, measure, { under: apart() });
agent.destroy();

console.log(
  `prompts on ${connections} connections, documents of ${chars} characters on ${documents}, ${seconds} s each`,
);
printTable(
  ["", "answered/s", "refused", "p50 ms", "p99 ms", "max ms", "p99 / p50"],
  rows.map(({ name, perSecond, refused, p50, p99, max }) => [
    name,
    perSecond.toFixed(1),
    String(refused),
    ...[p50, p99, max].map((ms) => ms.toFixed(0)),
    (p99 / p50).toFixed(1),
  ]),
);
mkdirSync("bench-results", { recursive: true });
writeFileSync("bench-results/fair.json", JSON.stringify({ rows }, null, 2));
