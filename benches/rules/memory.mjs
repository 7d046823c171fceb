// The memory of one scan of a large text.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { formatNumber, printTable } from "../table.mjs";
import { MEMORY_CASES } from "./cases.mjs";

const run = promisify(execFile);

/** Measures the memory of one scan of a text of `megabytes` MB by scanner. Prints a table and returns its rows. */
export async function measureMemory(megabytes) {
  const script = fileURLToPath(new URL("one-scan.mjs", import.meta.url));
  const rows = [];
  for (const [side, type, params] of MEMORY_CASES) {
    const { stdout } = await run(process.execPath, [script, String(megabytes), side, type, JSON.stringify(params)]);
    rows.push({ type, ...JSON.parse(stdout) });
  }
  console.log(`Memory for one text of ${megabytes} MB (resident, MB):`);
  printTable(
    ["scanner", "before", "peak", "growth / text", "ms"],
    rows.map(({ type, before, peak, ms }) => [
      type,
      formatNumber(before),
      formatNumber(peak),
      ((peak - before) / megabytes).toFixed(1),
      formatNumber(ms),
    ]),
  );
  console.log();
  return rows;
}
