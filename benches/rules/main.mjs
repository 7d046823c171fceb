// npm run bench:rules [-- --quick]: the scanners without a neural model, beside llm-guard, detect-secrets and tiktoken where
// GUARD_LLM_GUARD_PYTHON names a Python that has them (see peers/rules.py). Prints tables and writes bench-results/rules.json.
// Machines are noisy: both sides run in turn, several times. Each figure is the median of its rounds, and each ratio the median of
// the ratios of neighbouring runs.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describe, machineNow } from "../machine.mjs";
import { startPeers } from "../peers.mjs";
import { doubling } from "./doubling.mjs";
import { memory } from "./memory.mjs";
import { nastyPatterns } from "./patterns.mjs";
import { throughput } from "./throughput.mjs";

const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const rounds = flags.quick ? 1 : 3;
const sizes = flags.quick
  ? [
      [200, 100],
      [64_000, 2],
    ]
  : [
      [200, 400],
      [2_000, 100],
      [64_000, 8],
      [1_000_000, 1],
    ];

const machine = machineNow();
console.log(`${describe(machine)}\n`);

const peers = startPeers("rules.py");
if (!peers) {
  console.log("Only guard is measured. For its peers, in an environment of Python 3.10 to 3.12:");
  console.log("  python -m venv env && env/bin/pip install llm-guard==0.3.16");
  console.log("  GUARD_LLM_GUARD_PYTHON=env/bin/python npm run bench:rules\n");
}
const scratch = mkdtempSync(join(tmpdir(), "guard-bench-"));
const results = { date: new Date(), quick: flags.quick, machine };
try {
  results.throughput = await throughput({ peers, scratch, rounds, seconds: flags.quick ? 0.1 : 0.5, sizes });
  results.doubling = await doubling({ rounds, smallest: flags.quick ? 32_000 : 128_000 });
  // Short texts are matched on the event loop, longer ones on another thread.
  results.nasty = await nastyPatterns([8_000, flags.quick ? 20_000 : 1_000_000]);
  results.memory = await memory(flags.quick ? 10 : 100);
} finally {
  peers?.close();
  rmSync(scratch, { recursive: true });
}
const folder = fileURLToPath(new URL("../../bench-results/", import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}rules.json`, `${JSON.stringify(results, null, 2)}\n`);
console.log("Written to bench-results/rules.json");
