// Patterns that stall backtracking engines.
import { createScanner } from "../../dist/index.js";
import { formatBytes, formatNumber, printTable } from "../table.mjs";
import { measureOnce } from "./measure-once.mjs";

/** Measures the patterns on texts of these lengths, and the gaps of the event loop. Prints a table and returns its rows. */
export async function measurePatterns(patterns, lengths) {
  const rows = [];
  for (const [pattern, unit, end] of patterns) {
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
    "Patterns that stall backtracking engines (GUARD_PATTERN: stopped with an error, never a pass; GUARD_VALIDATION: rejected):",
  );
  printTable(
    ["pattern", "text", "outcome", "time (ms)", "largest gap of the event loop (ms)"],
    rows.map(({ pattern, length, outcome, ms, gap }) => [
      `\`${pattern.replaceAll("|", "\\|")}\``,
      formatBytes(length),
      outcome,
      formatNumber(ms),
      formatNumber(gap),
    ]),
  );
  console.log(
    `longest: ${formatNumber(Math.max(...rows.map(({ ms }) => ms)))} ms; largest gap: ${formatNumber(Math.max(...rows.map(({ gap }) => gap)))} ms\n`,
  );
  return rows;
}
