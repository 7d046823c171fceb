// The cost of texts whose length doubles.
import { createScanner } from "../../dist/index.js";
import { bytesOf, number, printTable } from "../table.mjs";
import { mixedTexts } from "../texts/mixed.mjs";
import { ADVERSARIAL } from "./cases.mjs";
import { measureOnce } from "./measure-once.mjs";
import { FOUND_EVERY } from "./throughput.mjs";

const DOUBLINGS = 3;

/** Prints and returns the times of texts of `smallest` characters, twice as many, and so on; each the least of so many rounds. */
export async function doubling({ rounds, smallest }) {
  const rows = [];
  for (const { side = "input", type, params, texts } of ADVERSARIAL) {
    const scanner = createScanner(side, type, params);
    const plain = mixedTexts(smallest * 2 ** DOUBLINGS, 1, FOUND_EVERY)[0];
    const makers = Object.entries(texts).map(([name, unit]) => [
      name,
      (size) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size),
    ]);
    for (const [name, make] of [["prose and code", (size) => plain.slice(0, size)], ...makers]) {
      const times = [];
      for (let step = 0; step <= DOUBLINGS; step++) {
        const text = make(smallest * 2 ** step).toWellFormed();
        const runs = [];
        for (let round = 0; round < rounds; round++) runs.push((await measureOnce(scanner, text)).ms);
        times.push(Math.min(...runs));
      }
      rows.push({ type, deobfuscate: Boolean(params.deobfuscate), name, times });
    }
  }
  console.log(`Doubling the text (ms; the exponent is 1 where the cost is linear and 2 where it is quadratic):`);
  printTable(
    [
      "scanner",
      "text",
      ...Array.from({ length: DOUBLINGS + 1 }, (_, step) => bytesOf(smallest * 2 ** step)),
      "exponent",
    ],
    rows.map(({ type, deobfuscate, name, times }) => [
      deobfuscate ? `${type}, deobfuscate` : type,
      name,
      ...times.map(number),
      (Math.log2(times.at(-1) / times[0]) / DOUBLINGS).toFixed(2),
    ]),
  );
  console.log();
  return rows;
}
