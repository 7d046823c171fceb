// npm run bench:anonymize [-- --quick] [-- --heldout FILE] [-- --ner FOLDER]: the detection of personal data. With GUARD_LLM_GUARD_PYTHON
// also Presidio's recognizers and llm-guard's Anonymize (see peers/anonymize.py).
//
// --heldout: a file of `python -m training.heldout --tasks pii`. Adds precision and recall of exact spans by type.
// --ner: the folder of guard's NER model, such as models/ner. Adds Anonymize with its model; llm-guard gets a model of equal size.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createScanner } from "../../dist/index.js";
import { formatMachine, machineInfo } from "../machine.mjs";
import { modelShape, printPeerHelp, startPeers } from "../peers.mjs";
import { saveResults } from "../results.mjs";
import { namedTexts } from "../texts/personal-data.mjs";
import { measureCost, measureThroughput } from "./cost.mjs";
import { measureQuality } from "./quality.mjs";

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean", default: false }, heldout: { type: "string" }, ner: { type: "string" } },
});
/** Lengths of texts in characters, and the number of texts of a pass. */
const SIZES = flags.quick
  ? [
      [1_000, 20],
      [10_000, 2],
    ]
  : [
      [200, 200],
      [1_000, 50],
      [10_000, 10],
      [100_000, 1],
    ];
/** The same for scanners with models, which are thousands of times slower. */
const WITH_MODELS = flags.quick
  ? [[1_000, 2]]
  : [
      [200, 20],
      [1_000, 6],
      [10_000, 1],
    ];

/** Lengths of texts in characters, by which the cost of a character is measured. */
const COST_LENGTHS = [1_000, 10_000, 100_000, 1_000_000];

// One thread, like the peers. Waiting threads would count as CPU time.
process.env.GUARD_ONNX_THREADS = "1";
const machine = machineInfo();
console.log(`${formatMachine(machine)}\n`);

const peers = startPeers("anonymize.py");
if (!peers) printPeerHelp("bench:anonymize");
const scratch = mkdtempSync(join(tmpdir(), "guard-bench-"));
const recognizers = createScanner("output", "Sensitive", { recognizer_conf: [] });
const save = (name, texts) => {
  const path = join(scratch, `${name}.json`);
  writeFileSync(path, JSON.stringify(texts));
  return path;
};
const settings = { peers, save, rounds: flags.quick ? 1 : 3, durationMs: flags.quick ? 200 : 1000 };
const results = { quick: flags.quick, machine };
try {
  if (flags.heldout) results.quality = await measureQuality(flags.heldout, recognizers, peers, save);
  results.recognizers = await measureThroughput(
    { name: "recognizers alone", sizes: SIZES, scanner: recognizers, peer: "Presidio", params: {} },
    settings,
  );
  if (flags.ner) {
    const { tokenizer, config } = modelShape(flags.ner);
    const anonymize = createScanner("input", "Anonymize", {});
    const run = { sizes: WITH_MODELS, scanner: anonymize, peer: "llm-guard Anonymize", params: { tokenizer, config } };
    results.anonymize = await measureThroughput({ ...run, name: "Anonymize" }, settings);
    // The model is faster on tokens that are far from names. These texts have no such tokens.
    const name = "Anonymize, names in every sentence";
    results.dense = await measureThroughput({ ...run, name, createTexts: namedTexts }, settings);
  }
  results.cost = await measureCost(recognizers, flags.quick ? COST_LENGTHS.slice(0, 3) : COST_LENGTHS, settings);
} finally {
  peers?.close();
  rmSync(scratch, { recursive: true });
}
saveResults("anonymize", results);
