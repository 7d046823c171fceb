// npm run bench:fair [-- --seconds 20]
// How long short prompts take while others send long documents all the time: what a person waits for in a chat beside somebody's batch.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describe, machineNow } from "./machine.mjs";
import { agent, closedLoop, longTexts, post, quantile } from "./posting.mjs";
import { apart, withServer } from "./server.mjs";
import { printTable } from "./table.mjs";
import { prompts } from "./texts/prompts.mjs";

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
const short = prompts(3);
const long = longTexts(41, chars);
const load = (url, count, text, duration) =>
  closedLoop(() => post(`${url}/analyze/prompt`, { prompt: text() }), count, duration);

function row(name, replies) {
  const wrong = replies.find(({ status }) => status !== 200 && status !== 503);
  if (wrong) throw new Error(`a request got the status ${wrong.status}`);
  const answered = replies.filter(({ status }) => status === 200);
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => 1000 * quantile(answered, share));
  return { name, perSecond: answered.length / seconds, refused: replies.length - answered.length, p50, p99, max };
}

console.log(describe(machineNow()));
const measure = async ({ url }) => {
  await load(url, 8, short, 2);
  await load(url, 1, long, 2);
  const alone = await load(url, connections, short, seconds);
  const beside = await Promise.all([load(url, connections, short, seconds), load(url, documents, long, seconds)]);
  return [row("prompts alone", alone), row("prompts beside documents", beside[0]), row("documents", beside[1])];
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
