// What guard and Presidio find in held-out texts, exact to the character.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { printTable } from "../table.mjs";

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

/**
 * Prints and returns precision, recall and F1 of exact spans, for both sides on the same texts.
 *
 * @param {string} path a file that `python -m training.heldout --tasks pii` wrote
 * @param {object} recognizers guard's scanner
 * @param {object} [peers] what `startPeers` returned
 * @param {(name: string, texts: string[]) => string} save writes texts for the peers and returns the path
 */
export async function quality(path, recognizers, peers, save) {
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
