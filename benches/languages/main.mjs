// npm run eval:languages -- --data DIR: how often each scanner with a neural model flags harmless texts, by the language that the
// detector names, and how well it tells bad texts from harmless ones there. Probabilities are taken as the model says them.
// Prints a table and writes bench-results/languages.json. `--write-cards` writes the curves into evaluation.json beside the models, and
// a table into their cards: scanners correct probabilities by them (on_untrained_language). `--only TYPE` measures these scanners only.
// Scores are kept in bench-results/languages-scores.jsonl, so that a run that was cut off goes on; delete the file with new weights.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { load } from "js-yaml";
import { createScanner, defaultEngine, scanOutput, scanPrompt } from "../../dist/index.js";
import { loadTool } from "../../scripts/tools.mjs";
import { printTable } from "../table.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values: flags } = parseArgs({
  options: {
    data: { type: "string", multiple: true },
    only: { type: "string", multiple: true },
    "write-cards": { type: "boolean", default: false },
  },
});
if (!flags.data) throw new Error("say where the texts are: --data DIR");
const plan = load(readFileSync(here("sets.yml"), "utf8"));
const chosen = plan.scanners.filter(({ type }) => !flags.only || flags.only.includes(type));
const engine = defaultEngine();
const REFERENCE = "en";

/** The path of a file in the first of the folders that has it. */
function pathOf(file) {
  const path = flags.data.map((folder) => join(folder, file)).find(existsSync);
  if (!path) throw new Error(`there is no ${file} in ${flags.data.join(" or ")}`);
  return path;
}

/** The first rows of a set for each of its languages and labels, by their hash. */
function rowsOf({ file, rows, labels, sets }) {
  const all = gunzipSync(readFileSync(pathOf(file)))
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
    .filter(({ text, label, set }) => {
      return text.length <= 2000 && (!labels || labels.includes(label)) && (!sets || sets.includes(set));
    })
    .map((row) => ({ ...row, hash: createHash("sha1").update(row.text).digest("hex") }))
    .sort((a, b) => (a.hash < b.hash ? -1 : 1));
  const taken = new Map();
  return all.filter(({ lang, label }) => {
    const key = `${lang} ${label}`;
    taken.set(key, (taken.get(key) ?? 0) + 1);
    return taken.get(key) <= (lang === REFERENCE ? rows * plan.english : rows);
  });
}

/** The language that the detector names for a whole text; undefined where it names several. */
async function languageOf(text) {
  const parts = await engine.languages.foreignParts(text, { known: [] });
  return parts.length === 1 ? (parts[0].language ?? undefined) : undefined;
}

async function withLanguages(rows) {
  const found = [];
  for (const row of rows) found.push({ ...row, detected: await languageOf(row.text) });
  return found.filter(({ detected }) => detected !== undefined);
}

/** Codes of the sets that the detector spells in another way. */
const SPELLINGS = { nb: "no", nn: "no", "zh-tw": "zh", kr: "ko", jp: "ja", fil: "tl", iw: "he" };

/** The harmless texts of some files whose language the detector names, with few of those that it takes for another one's. */
async function harmlessOf(files) {
  const rows = await withLanguages(files.flatMap(rowsOf).sort((a, b) => (a.hash < b.hash ? -1 : 1)));
  const strangers = new Map();
  const kept = rows.filter(({ lang, detected }) => {
    if ((SPELLINGS[lang] ?? lang) === detected) return true;
    const key = `${lang} ${detected}`;
    strangers.set(key, (strangers.get(key) ?? 0) + 1);
    return detected !== REFERENCE && strangers.get(key) <= plan.strangers;
  });
  process.stderr.write(`${kept.length} harmless texts\n`);
  return kept;
}

/** What scores are kept under: a scanner may be asked about texts of several sources. */
const keyOf = ({ type, source }) => (source ? `${type} ${source}` : type);
const build = ({ type, side, params = {} }) => createScanner(side, type, { ...params, on_untrained_language: "raw" });

mkdirSync(here("../../bench-results"), { recursive: true });
const KEPT = here("../../bench-results/languages-scores.jsonl");
/** Scores by scanner, source and SHA-1 of the text. */
const kept = new Map();
if (existsSync(KEPT)) {
  for (const line of readFileSync(KEPT, "utf8").trim().split("\n")) {
    const [hash, scores] = JSON.parse(line);
    for (const [key, value] of Object.entries(scores)) kept.set(`${key} ${hash}`, value);
  }
}

/** The probabilities of several scanners for texts; scanners that share a model share its passes. */
async function score(entries, rows) {
  const built = entries.map((entry) => ({ ...entry, scanner: build(entry) }));
  let done = 0;
  const one = async ({ text, hash }) => {
    const missing = built.filter((entry) => !kept.has(`${keyOf(entry)} ${hash}`));
    const scores = {};
    for (const side of ["input", "output"]) {
      const ofSide = missing.filter((entry) => entry.side === side);
      if (ofSide.length === 0) continue;
      const scanners = ofSide.map(({ scanner }) => scanner);
      const [{ source }] = ofSide;
      const { probabilities } =
        side === "input" ? await scanPrompt(scanners, text, { source }) : await scanOutput(scanners, "", text);
      for (const entry of ofSide) scores[keyOf(entry)] = probabilities[entry.type] ?? 0;
    }
    for (const [key, value] of Object.entries(scores)) kept.set(`${key} ${hash}`, value);
    if (missing.length > 0) appendFileSync(KEPT, `${JSON.stringify([hash, scores])}\n`);
    done += 1;
    if (done % 1000 === 0) process.stderr.write(`${done} of ${rows.length}\n`);
  };
  for (let at = 0; at < rows.length; at += 16) await Promise.all(rows.slice(at, at + 16).map(one));
  await Promise.all(built.map(({ scanner }) => scanner.close()));
  return entries.map((entry) => rows.map(({ hash }) => kept.get(`${keyOf(entry)} ${hash}`)));
}

/** Rates at which curves are written down, besides the lowest one that their number of texts can tell. */
const RATES = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002];

/**
 * A curve of false positives. The threshold for a rate r is the one that a further harmless text is above with a probability of r at
 * most: of n texts, at most r (n + 1) - 1 are above it (split conformal prediction, Vovk et al., Algorithmic Learning in a Random
 * World, 2005).
 */
function curveOf(values) {
  const ordered = [...values].sort((a, b) => b - a);
  const lowest = 1 / (ordered.length + 1);
  return [...RATES.filter((rate) => rate > lowest), lowest].map((rate) => {
    const above = Math.max(0, Math.floor(rate * (ordered.length + 1) + 1e-9) - 1);
    return [Number(rate.toPrecision(4)), Number((ordered[above] ?? 0).toPrecision(6))];
  });
}
/** A curve of fewer texts tells too little. */
const FEWEST = 40;
/** Texts whose language cannot be told are in many languages at once, so that their curve needs more of them. */
const FEWEST_UNTOLD = 300;
/** An area under the ROC curve below this is too near to guessing. */
const LEAST_AUC = 0.75;
/** Bad texts that are needed to measure that area. */
const FEWEST_BAD = 20;
/** Without bad texts: the largest share of letters that the model's vocabulary may lack. */
const MOST_UNKNOWN = 0.05;
/** Without bad texts: how many more harmless texts may be above the threshold than in English, as a share. */
const MOST_MORE = 0.1;

/**
 * A language that the model was trained in needs no correction where no more harmless texts than this are above the threshold beyond
 * those in English, as a share: the highest of a few dozen texts says too little about the rate of a hundredth.
 */
const MORE_AS_IT_IS = 0.03;

/** The languages that the head of a model was trained in. Entries name the head as `trained`. */
function trainedIn(model, head) {
  const { languages = [], heads = [] } = JSON.parse(
    readFileSync(join(engine.folder(model), "config.json"), "utf8"),
  ).guard;
  const found = heads.find(({ name }) => name === head);
  if (!found && heads.length > 0) throw new Error(`${model} has no head ${head}`);
  return found?.languages ?? languages;
}

function areaUnderCurve(negatives, positives) {
  const ordered = [...negatives].sort((a, b) => a - b);
  const below = (value, inclusive) => {
    let [low, high] = [0, ordered.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ordered[middle] < value || (inclusive && ordered[middle] === value)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const wins = positives.reduce((sum, value) => sum + (below(value, false) + below(value, true)) / 2, 0);
  return wins / (positives.length * ordered.length);
}

/** The share of the letters of texts that no piece of a model's vocabulary has, so that the model cannot tell them apart. */
function unknownLetters(model, texts) {
  const { vocab } = JSON.parse(readFileSync(join(engine.folder(model), "tokenizer.json"), "utf8")).model;
  const known = new Set(vocab.flatMap(([piece]) => [...piece]));
  let [unknown, all] = [0, 0];
  for (const text of texts) {
    for (const letter of text.normalize("NFKC").match(/[\p{L}\p{M}]/gu) ?? []) {
      all += 1;
      if (!known.has(letter)) unknown += 1;
    }
  }
  return all === 0 ? 0 : unknown / all;
}

const group = (rows, scores) => {
  const groups = new Map();
  rows.forEach(({ detected }, index) => {
    groups.set(detected, [...(groups.get(detected) ?? []), scores[index]]);
  });
  return groups;
};

/** The first texts of each language. */
function first(count, rows) {
  const taken = new Map();
  return rows.filter(({ detected }) => {
    taken.set(detected, (taken.get(detected) ?? 0) + 1);
    return taken.get(detected) <= count;
  });
}

const sharing = chosen.filter(({ harmless }) => harmless === undefined);
const shared = sharing.length > 0 ? await harmlessOf(plan.harmless) : [];
await score(
  sharing.filter(({ most }) => most === undefined),
  shared,
);
const curves = [];
for (const entry of chosen) {
  const { type, head, trained, bad = [] } = entry;
  const own = entry.harmless ? await harmlessOf(entry.harmless) : shared;
  const texts = entry.most === undefined ? own : first(entry.most, own);
  const badRows = await withLanguages(bad.flatMap(rowsOf));
  const badScores = badRows.length > 0 ? group(badRows, (await score([entry], badRows))[0]) : new Map();
  const { options } = build(entry);
  const threshold = options.threshold;
  const byLanguage = group(texts, (await score([entry], texts))[0]);
  const rate = (values) => values.filter((value) => value > threshold).length / values.length;
  const english = rate(byLanguage.get("en"));
  for (const [language, values] of [...byLanguage].sort()) {
    if (values.length < (language.startsWith("und") ? FEWEST_UNTOLD : FEWEST)) continue;
    const points = curveOf(values);
    const ofBad = badScores.get(language) ?? [];
    const measured = ofBad.length >= FEWEST_BAD;
    const auc = measured ? areaUnderCurve(values, ofBad) : undefined;
    const flagged = rate(values);
    const unknown = unknownLetters(
      options.model,
      texts.filter(({ detected }) => detected === language).map(({ text }) => text),
    );
    const isReadable = unknown <= MOST_UNKNOWN;
    curves.push({
      scanner: type,
      ...(head ? { head } : {}),
      language,
      rows: values.length,
      points,
      ...(measured ? { bad: { rows: ofBad.length, auc: Number(auc.toFixed(4)) } } : {}),
      separates: measured ? auc >= LEAST_AUC : isReadable && flagged <= english + MOST_MORE,
      flagged: Number(flagged.toFixed(4)),
      isCorrected:
        language === REFERENCE ||
        !trainedIn(options.model, trained).includes(language) ||
        flagged > english + MORE_AS_IT_IS,
      unknown: Number(unknown.toFixed(4)),
      model: options.model,
    });
  }
}

writeFileSync(here("../../bench-results/languages.json"), `${JSON.stringify(curves, null, 2)}\n`);
const percent = (value) => (value === undefined ? "" : (value * 100).toFixed(1));
printTable(
  ["scanner", "head", "language", "harmless", "flagged %", "bad", "AUC", "unknown %", "judged"],
  curves.map(({ scanner, head = "", language, rows, flagged, bad, unknown, separates }) => [
    ...[
      scanner,
      head,
      language,
      String(rows),
      percent(flagged),
      String(bad?.rows ?? ""),
      percent(bad?.auc),
      percent(unknown),
    ],
    separates ? "yes" : "no",
  ]),
);
if (flags["write-cards"]) {
  const { writeLanguages } = await loadTool("cards/language-card");
  for (const model of new Set(curves.map(({ model }) => model))) {
    const written = writeLanguages(
      engine.folder(model),
      curves.filter((curve) => curve.model === model),
    );
    for (const path of written) console.log(path);
  }
}
await engine.close();
