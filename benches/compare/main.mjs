// npm run bench:compare [-- --quick] [-- --python FILE] [-- --only Regex,JSON] [-- --lengths 10,1000] [-- --skip-http | --skip-scanners]:
// guard beside llm-guard: every scanner without a neural model that both have, by the length of the text, and a server of each with two
// scanners. `--python` or GUARD_LLM_GUARD_PYTHON names a Python with llm-guard 0.3.16; without one only guard is measured. Both sides run
// in turn, several times. Each figure is the median of its rounds.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatMachine, machineInfo } from "../machine.mjs";
import { printPeerHelp, startPeers } from "../peers.mjs";
import { saveResults } from "../results.mjs";
import { compareServers } from "./http.mjs";
import { compareScanners } from "./scanners.mjs";

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
/** Lengths of the texts in characters. */
const LENGTHS = [10, 100, 1_000, 10_000, 100_000, 1_000_000];
const QUICK_LENGTHS = [10, 1_000, 100_000];
const list = (value) => value?.split(",");
const machine = machineInfo();
console.log(`${formatMachine(machine)}\n`);
const { python } = flags;
if (!python) printPeerHelp("bench:compare", "llm-guard==0.3.16 fastapi 'uvicorn[standard]'");
const peers = startPeers("compare.py", python);
const scratch = mkdtempSync(join(tmpdir(), "guard-compare-"));
const results = { quick: flags.quick, machine };
const rounds = flags.quick ? 1 : 5;
try {
  if (!flags["skip-scanners"]) {
    const only = list(flags.only);
    const lengths = list(flags.lengths)?.map(Number) ?? (flags.quick ? QUICK_LENGTHS : LENGTHS);
    const durationMs = flags.quick ? 20 : 100;
    results.scanners = await compareScanners({ peers, scratch, rounds, durationMs, only, lengths });
  }
  if (!flags["skip-http"]) {
    results.http = await compareServers({ python, scratch, rounds, durationMs: flags.quick ? 1000 : 5000 });
  }
} finally {
  peers?.close();
  rmSync(scratch, { recursive: true });
}
saveResults("compare", results);
