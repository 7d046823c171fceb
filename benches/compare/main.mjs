// npm run bench:compare [-- --quick] [-- --python FILE] [-- --only Regex,JSON] [-- --lengths 10,1000] [-- --skip-http | --skip-scanners]:
// guard beside llm-guard, in one run: every scanner that both have and that needs no neural model, by the length of the text, and a server of
// each with two of them. Needs the Python of an environment with llm-guard 0.3.16, by `--python` or GUARD_LLM_GUARD_PYTHON; without one
// it says so, and measures guard alone. Prints tables and writes bench-results/compare.json.
// Machines are noisy: both sides run in turn, several times. Each figure is the median of its rounds.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describe, machineNow } from "../machine.mjs";
import { startPeers } from "../peers.mjs";
import { http } from "./http.mjs";
import { scanners } from "./scanners.mjs";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    python: { type: "string", default: process.env.GUARD_LLM_GUARD_PYTHON },
    only: { type: "string" },
    lengths: { type: "string" },
    "skip-http": { type: "boolean", default: false },
    "skip-scanners": { type: "boolean", default: false },
  },
});
const list = (value) => value?.split(",");
const machine = machineNow();
console.log(`${describe(machine)}\n`);
const { python } = flags;
if (!python) {
  console.log("Only guard is measured. To compare it, make an environment of Python 3.10 to 3.12 and name its Python:");
  console.log("  python -m venv env && env/bin/pip install llm-guard==0.3.16 fastapi 'uvicorn[standard]'");
  console.log("  GUARD_LLM_GUARD_PYTHON=env/bin/python npm run bench:compare\n");
}
const peers = startPeers("compare.py", python);
const scratch = mkdtempSync(join(tmpdir(), "guard-compare-"));
const results = { date: new Date(), quick: flags.quick, machine };
const rounds = flags.quick ? 1 : 5;
try {
  if (!flags["skip-scanners"]) {
    const [only, lengths] = [list(flags.only), list(flags.lengths)?.map(Number)];
    const seconds = flags.quick ? 0.05 : 0.1;
    results.scanners = await scanners({ peers, scratch, rounds, seconds, only, ...(lengths && { lengths }) });
  }
  if (!flags["skip-http"]) {
    results.http = await http({ python, scratch, rounds, seconds: flags.quick ? 3 : 5 });
  }
} finally {
  peers?.close();
  rmSync(scratch, { recursive: true });
}
const folder = fileURLToPath(new URL("../../bench-results/", import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}compare.json`, `${JSON.stringify(results, null, 2)}\n`);
console.log("Written to bench-results/compare.json");
