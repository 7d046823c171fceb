// npm run chaos [-- NAME...] [-- --quick] [-- --seconds N]
// What a real server does while things around it break. Exit code 1 where a promise of docs/reliability.md was broken.
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { describe, machineNow } from "../benches/machine.mjs";
import { Scenario, Skipped } from "./scenario.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, seconds: { type: "string" } },
});
const known = readdirSync(new URL("scenarios", import.meta.url))
  .map((name) => name.replace(/\.mjs$/, ""))
  .sort();
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`there is no scenario ${unknown.join(", ")}; there are ${known.join(", ")}`);
  process.exit(2);
}

console.log(describe(machineNow()));
let broken = 0;
for (const name of positionals.length > 0 ? positionals : known) {
  const { summary, duration, play } = await import(`./scenarios/${name}.mjs`);
  console.log(`\n${name}: ${summary}`);
  const seconds = Number(values.seconds ?? (values.quick ? duration.quick : duration.full));
  const scenario = new Scenario({ seconds, quick: values.quick });
  const start = performance.now();
  try {
    await play(scenario);
  } catch (error) {
    if (error instanceof Skipped) scenario.note(`skipped: ${error.message}`);
    else scenario.check("the scenario runs to its end", false, error.stack);
  } finally {
    await scenario.end();
  }
  for (const line of scenario.lines()) console.log(`  ${line}`);
  const faults = scenario.checks.filter(({ isKept }) => !isKept).length;
  console.log(`  ${faults === 0 ? "pass" : "FAIL"} after ${((performance.now() - start) / 1000).toFixed(0)} s`);
  broken += faults;
}
console.log(broken === 0 ? "\nall promises kept" : `\n${broken} promises broken`);
process.exit(broken === 0 ? 0 : 1);
