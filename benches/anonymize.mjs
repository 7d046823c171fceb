// npm run bench:anonymize [-- --quick] [-- --heldout FILE] [-- --ner FOLDER]: finding personal data, beside Presidio's recognizers and
// llm-guard's Anonymize where GUARD_BENCH_PYTHON names a Python that has them (see peers/anonymize.py). Prints tables and writes bench-results/anonymize.json.
//
// --heldout: a file that `python -m training.heldout --tasks pii` wrote: what both sides find in it, exact to the character, by type.
// --ner: the folder of guard's model of names, such as models/ner, so that llm-guard gets a model of equal size.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { createScanner } from "../dist/index.js";
import { describe, machineNow } from "./machine.mjs";
import { shapeOf, startPeers } from "./peers.mjs";
import { median } from "./stats.mjs";
import { bytesOf, number, printTable } from "./table.mjs";
import { namedTexts, personalTexts } from "./texts/personal-data.mjs";

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean", default: false }, heldout: { type: "string" }, ner: { type: "string" } },
});
const ROUNDS = flags.quick ? 1 : 3;
const SECONDS = flags.quick ? 0.2 : 1;
/** The characters of a text, and how many texts make a pass. */
const SIZES = flags.quick
  ? [
      [1_000, 20],
      [10_000, 2],
    ]
  : [
      [200, 200],
      [1_000, 50],
      [10_000, 10],
      [100_000, 1],
    ];
/** The same for scanners with models, with which a text takes thousands of times as long. */
const WITH_MODELS = flags.quick
  ? [[1_000, 2]]
  : [
      [200, 20],
      [1_000, 6],
      [10_000, 1],
    ];
const LINEAR = [1_000, 10_000, 100_000, 1_000_000];
const PASSES = 5;
/** How many times as fast as its peer guard promises to be. */
const PROMISED = { "recognizers alone": 100, Anonymize: 5 };
/** The thresholds that are tried for the scores of Presidio. The one with which it does best is used. */
const THRESHOLDS = [0.01, 0.2, 0.35, 0.5, 0.65, 0.8];

/** The names of each side for the types in the held-out texts, where they differ. */
const TYPES = {
  guard: { US_PASSPORT: "PASSPORT", ZH_PASSPORT: "PASSPORT", US_DRIVER_LICENSE: "DRIVER_LICENSE" },
  Presidio: { DATE_TIME: "DATE_OF_BIRTH", US_PASSPORT: "PASSPORT", US_DRIVER_LICENSE: "DRIVER_LICENSE" },
};
/** Types that are not compared: names need a model, and URLs are found only where a user asks for them. */
const LEFT_OUT = ["PERSON", "LOCATION", "ORGANIZATION", "URL"];
/** Presidio has no type for dates of birth, so other dates that it finds are not counted as wrong. */
const NEVER_WRONG = { guard: [], Presidio: ["DATE_OF_BIRTH"] };

// One thread, as the peers have. Further ones would count as work while they wait.
process.env.GUARD_ONNX_THREADS = "1";
const machine = machineNow();
console.log(`${describe(machine)}\n`);

const peers = startPeers("anonymize.py");
if (!peers) {
  console.log("Only guard is measured. For its peers, in an environment of Python 3.10 to 3.12:");
  console.log("  python -m venv env && env/bin/pip install llm-guard==0.3.16");
  console.log("  GUARD_BENCH_PYTHON=env/bin/python npm run bench:anonymize\n");
}
const scratch = mkdtempSync(join(tmpdir(), "guard-bench-"));
const recognizers = createScanner("output", "Sensitive", { recognizer_conf: [] });
const results = { date: new Date(), quick: flags.quick, machine };
try {
  if (flags.heldout) results.quality = await quality(flags.heldout);
  results.recognizers = await throughput("recognizers alone", SIZES, recognizers, "Presidio", {});
  if (flags.ner) {
    const { tokenizer, config } = shapeOf(flags.ner);
    const whole = createScanner("input", "Anonymize", {});
    const params = { tokenizer, config };
    results.anonymize = await throughput("Anonymize", WITH_MODELS, whole, "llm-guard Anonymize", params);
    // The model is faster on tokens that are far from names. These texts have none of them.
    const dense = "Anonymize, names in every sentence";
    results.dense = await throughput(dense, WITH_MODELS, whole, "llm-guard Anonymize", params, namedTexts);
  }
  results.linear = await linear();
} finally {
  peers?.close();
  rmSync(scratch, { recursive: true });
}
const folder = fileURLToPath(new URL("../bench-results/", import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "anonymize.json"), JSON.stringify(results, null, 2));

/** Precision, recall and F1 of exact spans, for both sides on the same texts. */
async function quality(path) {
  const bytes = readFileSync(path);
  const lines = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString().trim().split("\n");
  const rows = lines.map((line) => JSON.parse(line));
  const sides = {};
  sides.guard = await Promise.all(
    rows.map(async ({ text }) => {
      const { findings } = await recognizers.scan(text, { prompt: "" });
      const at = codePoints(text);
      return findings.map(({ start, end, label, score }) => [at[start], at[end], label, score]);
    }),
  );
  if (peers) {
    const texts = save(
      "heldout",
      rows.map(({ text }) => text),
    );
    sides.Presidio = (await peers.measure({ peer: "Presidio", params: {}, texts, seconds: null })).findings;
  }
  const gold = rows.map(({ spans }) => spans.filter(([, , type]) => !LEFT_OUT.includes(type)));
  const wanted = new Set(gold.flat().map(([, , type]) => type));
  const measured = Object.entries(sides).map(([side, found]) => {
    const named = found.map((findings) =>
      findings.map(([start, end, type, score]) => [start, end, TYPES[side][type] ?? type, score]),
    );
    const tried = THRESHOLDS.map((threshold) => ({
      threshold,
      ...figures(gold, named, threshold, wanted, NEVER_WRONG[side]),
    }));
    // guard has applied its own threshold already.
    const best = side === "guard" ? tried[0] : tried.reduce((best, one) => (one.all.f1 > best.all.f1 ? one : best));
    return [side, best];
  });
  console.log(`Found in ${rows.length} held-out texts, exact to the character (F1, precision and recall in percent):`);
  printTable(
    ["type", "spans", ...measured.flatMap(([side]) => [`${side}: F1`, "precision", "recall"])],
    [...[...wanted].sort(), "all"].map((type) => [
      type,
      String(gold.flat().filter(([, , one]) => type === "all" || one === type).length),
      ...measured.flatMap(([, best]) => {
        const { f1, precision, recall } = type === "all" ? best.all : best.byType[type];
        return [f1, precision, recall].map((value) => (100 * value).toFixed(1));
      }),
    ]),
  );
  for (const [side, { threshold }] of measured.slice(1)) {
    console.log(`${side} with the threshold ${threshold}, with which it does best of ${THRESHOLDS.join(", ")}.`);
  }
  console.log();
  return Object.fromEntries(measured);
}

/** The figures of findings above a threshold. Of overlapping findings the one with the highest score counts, then the longest. */
function figures(gold, found, threshold, wanted, neverWrong) {
  const counts = Object.fromEntries([...wanted].map((type) => [type, { right: 0, found: 0, spans: 0 }]));
  for (const [index, spans] of gold.entries()) {
    const key = ([start, end, type]) => `${start} ${end} ${type}`;
    const expected = new Set(spans.map(key));
    for (const [, , type] of spans) counts[type].spans++;
    const order = ([start, end, , score], [otherStart, otherEnd, , otherScore]) =>
      otherScore - score || otherEnd - otherStart - (end - start);
    const kept = [];
    for (const finding of found[index].filter(([, , , score]) => score >= threshold).sort(order)) {
      if (kept.every(([start, end]) => finding[1] <= start || finding[0] >= end)) kept.push(finding);
    }
    for (const finding of kept.filter(([, , type]) => wanted.has(type))) {
      const isRight = expected.has(key(finding));
      if (isRight) counts[finding[2]].right++;
      if (isRight || !neverWrong.includes(finding[2])) counts[finding[2]].found++;
    }
  }
  const rates = ({ right, found, spans }) => ({
    precision: found ? right / found : 0,
    recall: spans ? right / spans : 0,
    f1: found + spans ? (2 * right) / (found + spans) : 0,
  });
  const sum = (field) => Object.values(counts).reduce((total, count) => total + count[field], 0);
  return {
    byType: Object.fromEntries(Object.entries(counts).map(([type, count]) => [type, rates(count)])),
    all: rates({ right: sum("right"), found: sum("found"), spans: sum("spans") }),
  };
}

async function throughput(what, sizes, scanner, peer, params, textsOf = personalTexts) {
  await scanner.load?.();
  const rows = [];
  for (const [size, count] of sizes) {
    const texts = textsOf(size, count);
    const path = peers && save(`${size}`, texts);
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) {
      const guard = await measure(scanner, texts);
      const other = peers && (await peers.measure({ peer, params, texts: path, seconds: SECONDS }));
      rounds.push({ guard, ...(other && { [peer]: other }) });
    }
    rows.push({ size, characters: size * count, rounds });
  }
  console.log(
    `${what[0].toUpperCase()}${what.slice(1)}, one text after the other, median of ${ROUNDS} rounds (kB per second of the processor; findings in brackets):`,
  );
  const speed = (characters, runs) =>
    `${number(characters / 1e3 / median(runs.map(({ seconds }) => seconds)))} (${runs[0].found})`;
  const own = (rounds) => rounds.map(({ guard }) => guard);
  printTable(
    ["text", "guard", ...(peers ? [peer, "ratio", "promised"] : [])],
    rows.map(({ size, characters, rounds }) => [
      bytesOf(size),
      speed(characters, own(rounds)),
      ...(peers
        ? [
            speed(
              characters,
              rounds.map((round) => round[peer]),
            ),
            number(median(rounds.map((round) => round[peer].seconds / round.guard.seconds))),
            String(PROMISED[what] ?? ""),
          ]
        : []),
    ]),
  );
  console.log();
  return rows;
}

/** The cost of a character in texts of growing length. */
async function linear() {
  const anonymize = createScanner("input", "Anonymize", { recognizer_conf: [] });
  const rows = [];
  for (const size of LINEAR) {
    const texts = personalTexts(size, 1);
    const row = { size };
    for (const [name, scanner] of Object.entries({ recognizers, anonymize })) {
      const rounds = [];
      for (let round = 0; round < ROUNDS; round++) rounds.push((await measure(scanner, texts)).seconds);
      row[name] = (median(rounds) / size) * 1e9;
    }
    rows.push(row);
  }
  console.log("Cost of a character, in nanoseconds of the processor:");
  printTable(
    ["text", "recognizers alone", "Anonymize without a model"],
    rows.map(({ size, recognizers, anonymize }) => [bytesOf(size), number(recognizers), number(anonymize)]),
  );
  console.log();
  return rows;
}

/**
 * The cheapest pass over all texts, in the time of the processor, which does not depend on other work of the machine. Passes are
 * repeated until SECONDS are over.
 */
async function measure(scanner, texts) {
  const pass = async () => {
    let found = 0;
    for (const text of texts) found += (await scanner.scan(text, { prompt: "" })).findings.length;
    return found;
  };
  await pass();
  let fastest = Number.POSITIVE_INFINITY;
  let found = 0;
  const end = performance.now() + SECONDS * 1000;
  do {
    const start = process.cpuUsage();
    // Several passes are timed together, because the counter of the processor's time is coarse.
    for (let again = 0; again < PASSES; again++) found = await pass();
    const { user, system } = process.cpuUsage(start);
    fastest = Math.min(fastest, (user + system) / 1e6 / PASSES);
  } while (performance.now() < end);
  return { seconds: fastest, found };
}

function save(name, texts) {
  const path = join(scratch, `${name}.json`);
  writeFileSync(path, JSON.stringify(texts));
  return path;
}

/** For each UTF-16 code unit the index of the code point to which it belongs. */
function codePoints(text) {
  const at = [];
  let points = 0;
  for (const character of text) {
    for (let unit = 0; unit < character.length; unit++) at.push(points);
    points++;
  }
  return [...at, points];
}
