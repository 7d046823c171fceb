// npm run eval:envelopes [-- --quick]: whether PromptInjection gives a sentence the same verdict in every format, in long texts, and beside
// other texts. `--model NAME` measures another model, and `--params JSON` other options.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { PromptInjection } from "../../dist/scanners/generated/input-scanners.js";
import { saveResults } from "../results.mjs";
import { printTable } from "../table.mjs";
import { FORMATS } from "./formats.mjs";
import { measureBatches, measureFormats, measurePadding } from "./measure.mjs";

/** The most that the probabilities of a fact should differ between two formats. */
const WANTED_SPREAD = 0.1;

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    model: { type: "string" },
    params: { type: "string", default: "{}" },
    seed: { type: "string", default: "1" },
  },
});
const all = readFileSync(new URL("pairs.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const pairs = flags.quick ? all.filter((_, index) => index % 12 === 0) : all;
const params = { ...JSON.parse(flags.params), ...(flags.model === undefined ? {} : { model: flags.model }) };
const scanner = new PromptInjection(params);

const formats = await measureFormats(scanner, pairs);
const options = { seed: Number(flags.seed), ...(flags.quick ? { sizes: [1_000, 10_000] } : {}) };
const padded = await measurePadding(scanner, pairs, options);
const batches = await measureBatches(scanner, pairs, flags.quick ? { batches: [2, 8] } : {});
await scanner.close();

const percent = (share) => (100 * share).toFixed(1);
const spreadOf = (scores) => Math.max(...Object.values(scores)) - Math.min(...Object.values(scores));
const spreads = formats.map(({ fact }) => spreadOf(fact));

console.log(
  `${pairs.length} facts and attacks in ${new Set(pairs.map(({ lang }) => lang)).size} languages, as results of tools\n`,
);
console.log("The same sentence in every format");
printTable(
  ["%", "facts flagged", "attacks found"],
  Object.keys(FORMATS).map((format) => [
    format,
    percent(formats.filter(({ flagged }) => flagged.includes(format)).length / pairs.length),
    percent(formats.filter(({ found }) => found.includes(format)).length / pairs.length),
  ]),
);
const steady = spreads.filter((spread) => spread <= WANTED_SPREAD).length;
const mean = spreads.reduce((sum, spread) => sum + spread, 0) / spreads.length;
console.log(
  `Spread of a fact's probability over the formats: at most ${WANTED_SPREAD} for ${percent(steady / pairs.length)} %, mean ${mean.toFixed(3)}, ` +
    `greatest ${Math.max(...spreads).toFixed(3)}\n`,
);
console.log("At a random place of harmless text");
printTable(
  ["%", "attacks found", "of those found alone", "facts flagged"],
  Object.entries(padded).map(([size, { attacks, found, flagged, lost }]) => [
    size === "0" ? "alone" : `${Number(size) / 1000} kB`,
    percent(found / attacks),
    percent(1 - lost / padded[0].found),
    percent(flagged / attacks),
  ]),
);
console.log("\nBeside other texts");
printTable(
  ["texts at a time", "texts", "other probability", "greatest difference"],
  Object.entries(batches).map(([size, { texts, different, greatest }]) => [
    size,
    String(texts),
    String(different),
    greatest.toExponential(1),
  ]),
);
saveResults("envelopes", { quick: flags.quick, params, formats, padded, batches });
