// One side of the engine benchmark. It runs in its own process, so that the sides share neither threads nor memory:
//   node benches/engine-side.mjs --side guard|raw --threads N --ms MILLISECONDS
// Prints one JSON object. `raw` is InferenceSession.run of onnxruntime-node with token ids made beforehand. The times of `guard`
// include tokenizing.
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { percentile } from "./stats.mjs";
import { random } from "./texts/random.mjs";
import { textsOfLength, tokenizer } from "./texts/whole-tokens.mjs";

const MODEL = new URL("../models/prompt-injection/", import.meta.url);
// Tokens of a text, at most the model's maximum length: guard reads a longer text in several windows, which is different work.
const LENGTHS = [16, 64, 128, 256];
const CONCURRENCY = 32;

const { values } = parseArgs({
  options: { side: { type: "string" }, threads: { type: "string" }, ms: { type: "string" } },
});
const durationMs = Number(values.ms);

// guard caches the tokens of a text for five seconds and computes identical texts in flight only once. Neither is measured here, so the
// texts are distinct. Most of them are short, as prompts are.
const share = random(1);
const mixed = Array.from({ length: 4096 }, (_, seed) => textsOfLength(12 + Math.round(244 * share() ** 2), seed)());
const byLength = LENGTHS.map((length) => {
  const next = textsOfLength(length, length);
  return { length, texts: Array.from({ length: Math.ceil(8192 / length) }, next) };
});
const tokenize = tokenizer();
const tokens = new Map([...mixed, ...byLength.flatMap(({ texts }) => texts)].map((text) => [text, tokenize(text)]));

/** Timings of guard's engine in milliseconds, one of each phase per text, since the last call of `takeTimings`. */
let timings = { queued: [], tokenized: [], inferred: [] };

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
  engine.onAnswer((_, answer) => {
    for (const [phase, times] of Object.entries(timings)) times.push(answer[phase]);
  });
  const model = engine.model("embedded:prompt-injection");
  return {
    score: async (text) => {
      const answer = await model.classify(text, { strategy: "windows" });
      // The engine does not count the two special tokens.
      const expected = tokens.get(text).length - 2;
      if (answer.parts.length !== 1 || answer.tokens !== expected)
        throw new Error(
          `guard read ${answer.tokens} tokens in ${answer.parts.length} passes, not ${expected} in one: ${text}`,
        );
      return answer.parts[0].heads[0][1];
    },
    close: () => engine.close(),
  };
}

async function raw() {
  const { InferenceSession, Tensor } = await import("onnxruntime-node");
  const { guard } = JSON.parse(readFileSync(new URL("config.json", MODEL), "utf8"));
  const session = await InferenceSession.create(fileURLToPath(new URL("model.onnx", MODEL)), {
    intraOpNumThreads: Number(values.threads),
    // The embedded models share a file of word vectors.
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

/** The duration of a call in milliseconds, with one call at a time. */
async function latency(texts) {
  for (const text of texts.slice(0, 3)) await score(text);
  takeTimings();
  const times = [];
  const end = performance.now() + durationMs / LENGTHS.length;
  for (let index = 0; index < 10 || performance.now() < end; index++) {
    const start = performance.now();
    await score(texts[index % texts.length]);
    times.push(performance.now() - start);
  }
  return { calls: times.length, p50: percentile(times, 50), p95: percentile(times, 95), timings: takeTimings() };
}

/** The median of each phase since the last call; undefined for `raw`, which has no phases. */
function takeTimings() {
  const taken = timings;
  timings = { queued: [], tokenized: [], inferred: [] };
  if (taken.queued.length === 0) return undefined;
  return Object.fromEntries(Object.entries(taken).map(([phase, times]) => [phase, percentile(times, 50)]));
}

/** Texts per second with many concurrent calls, and the longest time for which the event loop was blocked. */
async function throughput() {
  takeTimings();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let last = performance.now();
  let gap = 0;
  // The monitor subtracts its resolution and has been wrong before, so a timer checks it.
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
    while (performance.now() - start < durationMs) {
      await score(mixed[next++ % mixed.length]);
      texts += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, caller));
  // The last gap may end without a tick of the timer.
  gap = Math.max(gap, performance.now() - last);
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(probe);
  delay.disable();
  return {
    textsPerSecond: (texts / elapsed) * 1000,
    gap: Math.max(gap, delay.max / 1e6),
    cores: (user + system) / 1000 / elapsed,
    timings: takeTimings(),
  };
}
