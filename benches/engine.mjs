// One side of the engine benchmark, in a process of its own, so that the two sides do not share threads or memory:
//   node benches/engine.mjs --side guard|raw --threads N --seconds S
// Prints one JSON object. `raw` is InferenceSession.run of onnxruntime-node, with token ids that were made beforehand. The times of
// `guard` include its tokenizer.
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { percentile } from "./stats.mjs";
import { random } from "./texts/random.mjs";
import { textsOfLength, tokenizer } from "./texts/whole-tokens.mjs";

const MODEL = new URL("../models/prompt-injection/", import.meta.url);
// Tokens of a text: at most as many as the model reads at once. guard reads a longer text in several windows, and the two sides
// would do different work.
const LENGTHS = [16, 64, 128, 256];
const CONCURRENCY = 32;

const { values } = parseArgs({
  options: { side: { type: "string" }, threads: { type: "string" }, seconds: { type: "string" } },
});
const seconds = Number(values.seconds);

// No text comes twice within the five seconds for which guard keeps the tokens of a text; it also computes identical texts in flight
// only once. Neither is to be measured here. Most texts are short, as prompts are.
const share = random(1);
const mixed = Array.from({ length: 4096 }, (_, seed) => textsOfLength(12 + Math.round(244 * share() ** 2), seed)());
const byLength = LENGTHS.map((length) => {
  const next = textsOfLength(length, length);
  return { length, texts: Array.from({ length: Math.ceil(8192 / length) }, next) };
});
const tokenize = tokenizer();
const tokens = new Map([...mixed, ...byLength.flatMap(({ texts }) => texts)].map((text) => [text, tokenize(text)]));

/** Milliseconds by clock of guard's engine, one of each a text, since they were last read. */
let clocks = { queued: [], tokenized: [], inferred: [] };

const { score, close } = await (values.side === "guard" ? guard() : raw());

const result = { scores: [], latency: [], throughput: undefined };
for (const text of mixed.slice(0, 64)) result.scores.push(await score(text));
for (const { length, texts } of byLength) result.latency.push({ tokens: length, ...(await latency(texts)) });
result.throughput = await throughput();
console.log(JSON.stringify(result));
await close();

async function guard() {
  const { Engine } = await import("../dist/models/engine.js");
  const engine = new Engine({ threads: Number(values.threads) });
  engine.onAnswer((_, timings) => {
    for (const [clock, times] of Object.entries(clocks)) times.push(timings[clock]);
  });
  const model = engine.model("embedded:prompt-injection");
  return {
    score: async (text) => {
      const read = await model.classify(text, "windows");
      // The two special tokens do not count.
      const wanted = tokens.get(text).length - 2;
      if (read.parts.length !== 1 || read.tokens !== wanted)
        throw new Error(
          `guard read ${read.tokens} tokens in ${read.parts.length} passes, not ${wanted} in one: ${text}`,
        );
      return read.parts[0].heads[0][1];
    },
    close: () => engine.close(),
  };
}

async function raw() {
  const { InferenceSession, Tensor } = await import("onnxruntime-node");
  const { guard } = JSON.parse(readFileSync(new URL("config.json", MODEL), "utf8"));
  const session = await InferenceSession.create(fileURLToPath(new URL("model.onnx", MODEL)), {
    intraOpNumThreads: Number(values.threads),
    // The word vectors are in a file that the embedded models share.
    extra: {
      session: { model_external_initializers_file_folder_path: fileURLToPath(new URL(guard.external_data, MODEL)) },
    },
  });
  const feeds = new Map();
  for (const [text, numbers] of tokens) {
    const ids = BigInt64Array.from(numbers, BigInt);
    const tensor = (data) => new Tensor("int64", data, [1, data.length]);
    feeds.set(text, { input_ids: tensor(ids), attention_mask: tensor(ids.map(() => 1n)) });
  }
  return {
    score: async (text) => {
      const output = await session.run(feeds.get(text));
      const [safe, injection] = output.direct.data;
      return 1 / (1 + Math.exp(safe - injection));
    },
    close: () => session.release(),
  };
}

/** The milliseconds of a call, with one call at a time. */
async function latency(texts) {
  for (const text of texts.slice(0, 3)) await score(text);
  readClocks();
  const times = [];
  const end = performance.now() + (seconds * 1000) / LENGTHS.length;
  for (let index = 0; index < 10 || performance.now() < end; index++) {
    const start = performance.now();
    await score(texts[index % texts.length]);
    times.push(performance.now() - start);
  }
  return { calls: times.length, p50: percentile(times, 50), p95: percentile(times, 95), clocks: readClocks() };
}

/** The median of each clock of the engine since the last call of this; nothing for the other side, which has none. */
function readClocks() {
  const read = clocks;
  clocks = { queued: [], tokenized: [], inferred: [] };
  if (read.queued.length === 0) return undefined;
  return Object.fromEntries(Object.entries(read).map(([clock, times]) => [clock, percentile(times, 50)]));
}

/** Texts per second with many simultaneous calls, and how long the event loop stood still meanwhile. */
async function throughput() {
  readClocks();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let last = performance.now();
  let gap = 0;
  // This timer checks the monitor, which subtracts its resolution and has been wrong before.
  const probe = setInterval(() => {
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
  }, 1);
  delay.enable();
  const cpu = process.cpuUsage();
  const start = performance.now();
  let next = 0;
  let texts = 0;
  const caller = async () => {
    while (performance.now() - start < seconds * 1000) {
      await score(mixed[next++ % mixed.length]);
      texts += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, caller));
  // The last gap may have ended without a tick of the timer.
  gap = Math.max(gap, performance.now() - last);
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(probe);
  delay.disable();
  return {
    textsPerSecond: (texts / elapsed) * 1000,
    gap: Math.max(gap, delay.max / 1e6),
    cores: (user + system) / 1000 / elapsed,
    clocks: readClocks(),
  };
}
