// npm run bench:agents: what a call costs for a conversation of 10, 100 and 1,000 messages of which one is new, beside the new message
// alone. All sides run in turn, so that a noisy machine hits them alike. Prints Markdown and writes bench-results/agents.json.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as guard from "../../dist/index.js";
import { describe, machineNow } from "../machine.mjs";
import { median } from "../stats.mjs";
import { printTable } from "../table.mjs";

const machine = machineNow();
const rounds = process.argv.includes("--quick") ? 3 : 15;
const SIZES = [10, 100, 1000];
/** A conversation whose window is full: what it costs more than the new message alone is the price of the window. */
const SHORT = 6;
const { ConversationRisk, PromptInjection, scanConversation, scanPrompt, VerdictCache } = guard;
const scanner = new PromptInjection();
const sentence = (n) =>
  `Message ${n}: please tell me something about the history of the town number ${n} and its old harbour.`;
const messagesOf = (size, latest) => [
  ...Array.from({ length: size - 1 }, (_, n) => ({ role: n % 2 ? "assistant" : "user", content: sentence(n) })),
  { role: "user", content: latest },
];

/** The ways to scan: with verdicts of earlier messages kept (where this version of guard keeps them), and without. */
const ways = { without: () => ({ window: 3 }) };
if (VerdictCache) {
  ways.without = () => ({ window: 3, verdicts: new VerdictCache() });
  const kept = new VerdictCache();
  ways.kept = () => ({ window: 3, verdicts: kept });
  const noWindow = new VerdictCache();
  ways["kept, no window"] = () => ({ window: 1, verdicts: noWindow });
}
const risks = Object.fromEntries(Object.keys(ways).map((way) => [way, ConversationRisk.fromScanner(scanner)]));
const timed = async (work) => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

const results = [];
for (const size of SIZES) {
  for (const [way, options] of Object.entries(ways)) {
    const scan = (latest) => scanConversation([scanner], messagesOf(size, latest), { risk: risks[way], ...options() });
    await scan("The first call fills what is kept.");
    const pairs = [];
    for (let round = 0; round < rounds; round++) {
      const latest = `${sentence(`${size}${way}${round}`)} It is for a talk.`;
      const alone = await timed(() => scanPrompt([scanner], `${latest} Thanks`));
      const shortOne = messagesOf(SHORT, `${latest} Bye`);
      const short = await timed(() => scanConversation([scanner], shortOne, { risk: risks[way], ...options() }));
      pairs.push({ alone, short, whole: await timed(() => scan(latest)) });
    }
    const alone = median(pairs.map((pair) => pair.alone));
    const whole = median(pairs.map((pair) => pair.whole));
    const short = median(pairs.map((pair) => pair.short));
    const ratio = median(pairs.map((pair) => pair.whole / pair.alone));
    const byLength = median(pairs.map((pair) => pair.whole / pair.short));
    results.push({ size, way, alone, short, whole, ratio, byLength });
  }
}
await scanner.close();
console.log(`${describe(machine)}, medians of ${rounds}\n`);
printTable(
  [
    "messages",
    "verdicts",
    "new message alone, ms",
    `${SHORT} messages, ms`,
    "conversation, ms",
    "to alone",
    `to ${SHORT}`,
  ],
  results.map(({ size, way, alone, short, whole, ratio, byLength }) => [
    String(size),
    way,
    alone.toFixed(1),
    short.toFixed(1),
    whole.toFixed(1),
    ratio.toFixed(2),
    byLength.toFixed(2),
  ]),
);
const path = (name) => fileURLToPath(new URL(`../../bench-results/${name}`, import.meta.url));
mkdirSync(path(""), { recursive: true });
writeFileSync(path("agents.json"), `${JSON.stringify({ machine, results }, null, 2)}\n`);
