// npm run bench:anonymize [-- --quick] [-- --heldout FILE] [-- --ner FOLDER]: finding personal data, beside Presidio's recognizers and
// llm-guard's Anonymize where GUARD_LLM_GUARD_PYTHON names a Python that has them (see peers/anonymize.py). Prints tables and
// writes bench-results/anonymize.json.
//
// --heldout: a file that `python -m training.heldout --tasks pii` wrote: what both sides find in it, exact to the character, by type.
// --ner: the folder of guard's model of names, such as models/ner, so that llm-guard gets a model of equal size.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createScanner } from "../../dist/index.js";
import { describe, machineNow } from "../machine.mjs";
import { shapeOf, startPeers } from "../peers.mjs";
import { namedTexts } from "../texts/personal-data.mjs";
import { linear, throughput } from "./cost.mjs";
import { quality } from "./quality.mjs";

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean", default: false }, heldout: { type: "string" }, ner: { type: "string" } },
});
/** The characters of a text, and how many texts make a pass. */
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
/** The same for scanners with models, with which a text takes thousands of times as long. */
const WITH_MODELS = flags.quick
  ? [[1_000, 2]]
  : [
      [200, 20],
      [1_000, 6],
      [10_000, 1],
    ];

// One thread, as the peers have. Further ones would count as work while they wait.
process.env.GUARD_ONNX_THREADS = "1";
const machine = machineNow();
console.log(`${describe(machine)}\n`);

const peers = startPeers("anonymize.py");
if (!peers) {
  console.log("Only guard is measured. For its peers, in an environment of Python 3.10 to 3.12:");
  console.log("  python -m venv env && env/bin/pip install llm-guard==0.3.16");
  console.log("  GUARD_LLM_GUARD_PYTHON=env/bin/python npm run bench:anonymize\n");
}
const scratch = mkdtempSync(join(tmpdir(), "guard-bench-"));
const recognizers = createScanner("output", "Sensitive", { recognizer_conf: [] });
const save = (name, texts) => {
  const path = join(scratch, `${name}.json`);
  writeFileSync(path, JSON.stringify(texts));
  return path;
};
const settings = { peers, save, rounds: flags.quick ? 1 : 3, seconds: flags.quick ? 0.2 : 1 };
const results = { date: new Date(), quick: flags.quick, machine };
try {
  if (flags.heldout) results.quality = await quality(flags.heldout, recognizers, peers, save);
  results.recognizers = await throughput(
    { what: "recognizers alone", sizes: SIZES, scanner: recognizers, peer: "Presidio", params: {} },
    settings,
  );
  if (flags.ner) {
    const { tokenizer, config } = shapeOf(flags.ner);
    const whole = createScanner("input", "Anonymize", {});
    const run = { sizes: WITH_MODELS, scanner: whole, peer: "llm-guard Anonymize", params: { tokenizer, config } };
    results.anonymize = await throughput({ ...run, what: "Anonymize" }, settings);
    // The model is faster on tokens that are far from names. These texts have none of them.
    const what = "Anonymize, names in every sentence";
    results.dense = await throughput({ ...run, what, textsOf: namedTexts }, settings);
  }
  results.linear = await linear(recognizers, settings);
} finally {
  peers?.close();
  rmSync(scratch, { recursive: true });
}
const folder = fileURLToPath(new URL("../../bench-results/", import.meta.url));
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "anonymize.json"), JSON.stringify(results, null, 2));
