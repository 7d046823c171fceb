// npm run bench:agents [-- --quick]: the latency of a conversation of 10, 100 and 1,000 messages with one new message, beside the new
// message alone. All variants run in turn.
import { parseArgs } from "node:util";
import { ConversationRisk, scanConversation, scanPrompt, VerdictCache } from "../dist/index.js";
import { PromptInjection } from "../dist/scanners/generated/input-scanners.js";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { median } from "./stats.mjs";
import { printTable } from "./table.mjs";

const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const ROUNDS = flags.quick ? 2 : 15;
const SIZES = flags.quick ? [10, 100] : [10, 100, 1000];
/** A conversation that just fills the window. Its latency beyond that of the new message is the cost of the window. */
const SHORT = 6;
const scanner = new PromptInjection();
const sentence = (n) =>
  `Message ${n}: please tell me something about the history of the town number ${n} and its old harbour.`;
const messagesOf = (size, latest) => [
  ...Array.from({ length: size - 1 }, (_, n) => ({ role: n % 2 ? "assistant" : "user", content: sentence(n) })),
  { role: "user", content: latest },
];

/** Options of a scan: with an empty cache of verdicts each time, and with one that is kept between calls. */
const cache = new VerdictCache();
const cacheWithoutWindow = new VerdictCache();
const variants = {
  "new cache": () => ({ window: 3, verdicts: new VerdictCache() }),
  cached: () => ({ window: 3, verdicts: cache }),
  "cached, no window": () => ({ window: 1, verdicts: cacheWithoutWindow }),
};
const risks = Object.fromEntries(
  Object.keys(variants).map((variant) => [variant, ConversationRisk.fromScanner(scanner)]),
);
const timed = async (work) => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

const machine = machineInfo();
console.log(`${formatMachine(machine)}, medians of ${ROUNDS} rounds\n`);
const results = [];
for (const size of SIZES) {
  for (const [variant, options] of Object.entries(variants)) {
    const scan = (messages) => scanConversation([scanner], messages, { risk: risks[variant], ...options() });
    await scan(messagesOf(size, "The first call fills the cache."));
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) {
      const latest = `${sentence(`${size}${variant}${round}`)} It is for a talk.`;
      rounds.push({
        alone: await timed(() => scanPrompt([scanner], `${latest} Thanks`)),
        short: await timed(() => scan(messagesOf(SHORT, `${latest} Bye`))),
        whole: await timed(() => scan(messagesOf(size, latest))),
      });
    }
    const middle = (figure) => median(rounds.map(figure));
    results.push({
      ...{ size, variant },
      ...{ alone: middle((one) => one.alone), short: middle((one) => one.short), whole: middle((one) => one.whole) },
      ...{ toAlone: middle((one) => one.whole / one.alone), toShort: middle((one) => one.whole / one.short) },
    });
  }
}
await scanner.close();
printTable(
  [
    "messages",
    "verdicts",
    "new message alone, ms",
    `${SHORT} messages, ms`,
    "conversation, ms",
    "/ alone",
    `/ ${SHORT} messages`,
  ],
  results.map(({ size, variant, alone, short, whole, toAlone, toShort }) => [
    String(size),
    variant,
    ...[alone, short, whole].map((ms) => ms.toFixed(1)),
    ...[toAlone, toShort].map((ratio) => ratio.toFixed(2)),
  ]),
);
saveResults("agents", { quick: flags.quick, machine, results });
