// The memory that one scan of a large text takes.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { number, printTable } from "../table.mjs";
import { LARGE } from "./cases.mjs";

const run = promisify(execFile);

/** Prints and returns the memory of one scan of a text of so many megabytes, by scanner. */
export async function memory(megabytes) {
  const script = fileURLToPath(new URL("one-scan.mjs", import.meta.url));
  const rows = [];
  for (const [side, type, params] of LARGE) {
    const { stdout } = await run(process.execPath, [script, String(megabytes), side, type, JSON.stringify(params)]);
    rows.push({ type, ...JSON.parse(stdout) });
  }
  console.log(`Memory for one text of ${megabytes} MB (resident, MB):`);
  printTable(
    ["scanner", "with the text", "at most", "more, in times the text", "seconds"],
    rows.map(({ type, before, peak, seconds }) => [
      type,
      number(before),
      number(peak),
      ((peak - before) / megabytes).toFixed(1),
      number(seconds),
    ]),
  );
  console.log();
  return rows;
}
