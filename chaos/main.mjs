// npm run chaos [-- NAME...] [-- --quick] [-- --seconds N]: runs a real server while its environment fails, and checks the promises of
// docs/reliability.md. The exit code is 1 if a promise was broken.
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { formatMachine, machineInfo } from "../benches/machine.mjs";
import { Scenario, Skipped } from "./scenario.mjs";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, seconds: { type: "string" } },
});
const known = readdirSync(new URL("scenarios", import.meta.url))
  .map((name) => name.replace(/\.mjs$/, ""))
  .sort();
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`unknown scenario ${unknown.join(", ")}; known are ${known.join(", ")}`);
  process.exit(2);
}

console.log(formatMachine(machineInfo()));
let broken = 0;
for (const name of positionals.length > 0 ? positionals : known) {
  const { summary, durationMs, play } = await import(`./scenarios/${name}.mjs`);
  console.log(`\n${name}: ${summary}`);
  const { full, quick } = durationMs;
  const chosen = flags.seconds === undefined ? (flags.quick ? quick : full) : 1000 * Number(flags.seconds);
  const scenario = new Scenario({ durationMs: chosen, isQuick: flags.quick });
  const start = performance.now();
  try {
    await play(scenario);
  } catch (error) {
    if (error instanceof Skipped) scenario.note(`skipped: ${error.message}`);
    else scenario.check("the scenario completes", false, error.stack);
  } finally {
    await scenario.end();
  }
  for (const line of scenario.lines()) console.log(`  ${line}`);
  const failures = scenario.checks.filter(({ isKept }) => !isKept).length;
  console.log(`  ${failures === 0 ? "pass" : "FAIL"} after ${((performance.now() - start) / 1000).toFixed(0)} s`);
  broken += failures;
}
console.log(broken === 0 ? "\nall promises kept" : `\n${broken} promises broken`);
process.exit(broken === 0 ? 0 : 1);
