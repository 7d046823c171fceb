// npm run bench:fair [-- --quick] [-- --seconds 20]: the latency of short prompts while other callers send long documents all the time,
// such as a chat beside somebody's batch.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { agent, closedLoop, distinctTexts, latencyQuantile, post } from "./http-load.mjs";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { pinToLastCpu, withServer } from "./server.mjs";
import { printTable } from "./table.mjs";
import { prompts } from "./texts/prompts.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seconds: { type: "string" },
    connections: { type: "string", default: "32" },
    documents: { type: "string", default: "1" },
    chars: { type: "string", default: "40000" },
    config: { type: "string", default: fileURLToPath(new URL("../scanners.yml", import.meta.url)) },
  },
});
const durationMs = 1000 * Number(flags.seconds ?? (flags.quick ? 3 : 20));
const warmUpMs = flags.quick ? 500 : 2000;
const [connections, documents, chars] = ["connections", "documents", "chars"].map((name) => Number(flags[name]));
const nextPrompt = prompts(3);
const nextDocument = distinctTexts(41, chars);
const load = (url, count, next, ms) => closedLoop(() => post(`${url}/analyze/prompt`, { prompt: next() }), count, ms);

function summarize(name, replies) {
  const unexpected = replies.find(({ status }) => status !== 200 && status !== 503);
  if (unexpected) throw new Error(`a request got the status ${unexpected.status}`);
  const answered = replies.filter(({ status }) => status === 200);
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => latencyQuantile(answered, share));
  const perSecond = (1000 * answered.length) / durationMs;
  return { name, perSecond, refused: replies.length - answered.length, p50, p99, max };
}

const machine = machineInfo();
console.log(formatMachine(machine));
const measure = async ({ url }) => {
  await load(url, 8, nextPrompt, warmUpMs);
  await load(url, 1, nextDocument, warmUpMs);
  const alone = await load(url, connections, nextPrompt, durationMs);
  const together = await Promise.all([
    load(url, connections, nextPrompt, durationMs),
    load(url, documents, nextDocument, durationMs),
  ]);
  return [
    summarize("prompts alone", alone),
    summarize("prompts beside documents", together[0]),
    summarize("documents", together[1]),
  ];
};
const rows = await withServer(flags.config, measure, { under: pinToLastCpu() });
agent.destroy();

console.log(
  `prompts on ${connections} connections, documents of ${chars} characters on ${documents}, ${durationMs / 1000} s each`,
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
saveResults("fair", { quick: flags.quick, machine, rows });
