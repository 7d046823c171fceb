// Precision and recall of exact spans in held-out texts, for guard and Presidio.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { printTable } from "../table.mjs";

/** Candidate thresholds for the scores of Presidio. The one with the best F1 is used. */
const THRESHOLDS = [0.01, 0.2, 0.35, 0.5, 0.65, 0.8];

/** Types of the held-out texts by the name that each side uses, where they differ. */
const TYPES = {
  guard: { US_PASSPORT: "PASSPORT", ZH_PASSPORT: "PASSPORT", US_DRIVER_LICENSE: "DRIVER_LICENSE" },
  Presidio: { DATE_TIME: "DATE_OF_BIRTH", US_PASSPORT: "PASSPORT", US_DRIVER_LICENSE: "DRIVER_LICENSE" },
};
/** Types that are not compared: names need a model, and URLs are found only on request. */
const EXCLUDED_TYPES = ["PERSON", "LOCATION", "ORGANIZATION", "URL"];
/** Presidio has no type for dates of birth, so its other dates are not counted as false positives. */
const IGNORED_FALSE_POSITIVES = { guard: [], Presidio: ["DATE_OF_BIRTH"] };

/**
 * Measures precision, recall and F1 of exact spans for both sides on the same texts. Prints a table and returns the figures.
 *
 * @param {string} path a file of `python -m training.heldout --tasks pii`
 * @param {object} recognizers the scanner of guard
 * @param {object} [peers] the result of `startPeers`
 * @param {(name: string, texts: string[]) => string} save writes texts for the peers and returns the path
 */
export async function measureQuality(path, recognizers, peers, save) {
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
    sides.Presidio = (await peers.measure({ peer: "Presidio", params: {}, texts, durationMs: null })).findings;
  }
  const gold = rows.map(({ spans }) => spans.filter(([, , type]) => !EXCLUDED_TYPES.includes(type)));
  const types = new Set(gold.flat().map(([, , type]) => type));
  const measured = Object.entries(sides).map(([side, found]) => {
    const named = found.map((findings) =>
      findings.map(([start, end, type, score]) => [start, end, TYPES[side][type] ?? type, score]),
    );
    const tried = THRESHOLDS.map((threshold) => ({
      threshold,
      ...figures(gold, named, threshold, types, IGNORED_FALSE_POSITIVES[side]),
    }));
    // guard applies its own threshold.
    const best = side === "guard" ? tried[0] : tried.reduce((best, one) => (one.all.f1 > best.all.f1 ? one : best));
    return [side, best];
  });
  console.log(`Exact spans in ${rows.length} held-out texts (F1, precision and recall in percent):`);
  printTable(
    ["type", "spans", ...measured.flatMap(([side]) => [`${side}: F1`, "precision", "recall"])],
    [...[...types].sort(), "all"].map((type) => [
      type,
      String(gold.flat().filter(([, , one]) => type === "all" || one === type).length),
      ...measured.flatMap(([, best]) => {
        const { f1, precision, recall } = type === "all" ? best.all : best.byType[type];
        return [f1, precision, recall].map((value) => (100 * value).toFixed(1));
      }),
    ]),
  );
  for (const [side, { threshold }] of measured.slice(1)) {
    console.log(`${side} has the best F1 with the threshold ${threshold} of ${THRESHOLDS.join(", ")}.`);
  }
  console.log();
  return Object.fromEntries(measured);
}

/** The figures of findings above a threshold. Among overlapping findings the highest score wins, then the longest. */
function figures(gold, found, threshold, types, ignoredFalsePositives) {
  const counts = Object.fromEntries([...types].map((type) => [type, { correct: 0, found: 0, spans: 0 }]));
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
    for (const finding of kept.filter(([, , type]) => types.has(type))) {
      const isCorrect = expected.has(key(finding));
      if (isCorrect) counts[finding[2]].correct++;
      if (isCorrect || !ignoredFalsePositives.includes(finding[2])) counts[finding[2]].found++;
    }
  }
  const rates = ({ correct, found, spans }) => ({
    precision: found ? correct / found : 0,
    recall: spans ? correct / spans : 0,
    f1: found + spans ? (2 * correct) / (found + spans) : 0,
  });
  const sum = (field) => Object.values(counts).reduce((total, count) => total + count[field], 0);
  return {
    byType: Object.fromEntries(Object.entries(counts).map(([type, count]) => [type, rates(count)])),
    all: rates({ right: sum("correct"), found: sum("found"), spans: sum("spans") }),
  };
}

/** The index of the code point of each UTF-16 code unit. */
function codePoints(text) {
  const at = [];
  let points = 0;
  for (const character of text) {
    for (let unit = 0; unit < character.length; unit++) at.push(points);
    points++;
  }
  return [...at, points];
}
