// Patterns that stall other engines.
import { createScanner } from "../../dist/index.js";
import { bytesOf, number, printTable } from "../table.mjs";
import { NASTY } from "./cases.mjs";
import { measureOnce } from "./measure-once.mjs";

/** Prints and returns how long patterns take on texts of these lengths, and how long the event loop stands still meanwhile. */
export async function nastyPatterns(lengths) {
  const rows = [];
  for (const [pattern, unit, end] of NASTY) {
    let scanner;
    const start = performance.now();
    try {
      scanner = createScanner("input", "Regex", { patterns: [pattern], match_type: "all" });
    } catch ({ code }) {
      const ms = performance.now() - start;
      rows.push({ pattern, length: 0, ms, gap: ms, outcome: code });
      continue;
    }
    for (const length of lengths) {
      const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length - end.length) + end;
      rows.push({ pattern, length, ...(await measureOnce(scanner, text)) });
    }
  }
  console.log(
    "Patterns that stall other engines (GUARD_PATTERN: given up, an error and never a pass; GUARD_VALIDATION: refused):",
  );
  printTable(
    ["pattern", "text", "outcome", "time (ms)", "largest gap of the event loop (ms)"],
    rows.map(({ pattern, length, outcome, ms, gap }) => [
      `\`${pattern.replaceAll("|", "\\|")}\``,
      bytesOf(length),
      outcome,
      number(ms),
      number(gap),
    ]),
  );
  console.log(
    `longest: ${number(Math.max(...rows.map(({ ms }) => ms)))} ms; largest gap: ${number(Math.max(...rows.map(({ gap }) => gap)))} ms\n`,
  );
  return rows;
}
