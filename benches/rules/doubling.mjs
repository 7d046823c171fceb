// The cost of texts by length, from which the exponent of the cost follows.
import { createScanner } from "../../dist/index.js";
import { formatBytes, formatNumber, printTable } from "../table.mjs";
import { mixedTexts } from "../texts/mixed.mjs";
import { ADVERSARIAL } from "./cases.mjs";
import { measureOnce } from "./measure-once.mjs";
import { FINDING_INTERVAL } from "./throughput.mjs";

const DOUBLINGS = 3;

/** Measures texts of `startLength` characters, of twice that, and so on, each the fastest of its rounds. Prints a table and returns its rows. */
export async function measureDoubling({ rounds, startLength }) {
  const rows = [];
  for (const { side = "input", type, params, texts } of ADVERSARIAL) {
    const scanner = createScanner(side, type, params);
    const prose = mixedTexts(startLength * 2 ** DOUBLINGS, 1, FINDING_INTERVAL)[0];
    const makers = Object.entries(texts).map(([name, unit]) => [
      name,
      (size) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size),
    ]);
    for (const [name, make] of [["prose and code", (size) => prose.slice(0, size)], ...makers]) {
      const times = [];
      for (let step = 0; step <= DOUBLINGS; step++) {
        const text = make(startLength * 2 ** step).toWellFormed();
        const runs = [];
        for (let round = 0; round < rounds; round++) runs.push((await measureOnce(scanner, text)).ms);
        times.push(Math.min(...runs));
      }
      rows.push({ type, deobfuscate: Boolean(params.deobfuscate), name, times });
    }
  }
  console.log("Doubling the text (ms). The exponent is 1 if the cost is linear and 2 if it is quadratic:");
  printTable(
    [
      "scanner",
      "text",
      ...Array.from({ length: DOUBLINGS + 1 }, (_, step) => formatBytes(startLength * 2 ** step)),
      "exponent",
    ],
    rows.map(({ type, deobfuscate, name, times }) => [
      deobfuscate ? `${type}, deobfuscate` : type,
      name,
      ...times.map(formatNumber),
      (Math.log2(times.at(-1) / times[0]) / DOUBLINGS).toFixed(2),
    ]),
  );
  console.log();
  return rows;
}
