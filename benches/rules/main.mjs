// npm run bench:rules [-- --quick]: the scanners without a neural model. With GUARD_LLM_GUARD_PYTHON also llm-guard, detect-secrets and
// tiktoken (see peers/rules.py). Both sides run in turn, several times. Each figure is the median of its rounds, and each ratio is the
// median of the ratios of neighbouring runs.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatMachine, machineInfo } from "../machine.mjs";
import { printPeerHelp, startPeers } from "../peers.mjs";
import { saveResults } from "../results.mjs";
import { EVIL_PATTERNS } from "./cases.mjs";
import { measureDoubling } from "./doubling.mjs";
import { measureMemory } from "./memory.mjs";
import { measurePatterns } from "./patterns.mjs";
import { measureThroughput } from "./throughput.mjs";

const { values: flags } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const rounds = flags.quick ? 1 : 3;
/** Lengths of texts in characters, and the number of texts of a pass. */
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

const machine = machineInfo();
console.log(`${formatMachine(machine)}\n`);

const peers = startPeers("rules.py");
if (!peers) printPeerHelp("bench:rules");
const scratch = mkdtempSync(join(tmpdir(), "guard-bench-"));
const results = { quick: flags.quick, machine };
try {
  results.throughput = await measureThroughput({ peers, scratch, rounds, durationMs: flags.quick ? 50 : 500, sizes });
  results.doubling = await measureDoubling({ rounds, startLength: flags.quick ? 8_000 : 128_000 });
  // Short texts are matched on the event loop, longer ones on another thread.
  results.patterns = await (flags.quick
    ? measurePatterns(EVIL_PATTERNS.slice(0, 10), [2_000, 8_000])
    : measurePatterns(EVIL_PATTERNS, [8_000, 1_000_000]));
  results.memory = await measureMemory(flags.quick ? 5 : 100);
} finally {
  peers?.close();
  rmSync(scratch, { recursive: true });
}
saveResults("rules", results);
