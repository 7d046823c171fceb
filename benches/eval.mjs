// npm run eval -- --data DIR [...]: runs the suite benches/eval.yml with the options of `npm run tool -- eval`. `--quick` evaluates a few
// texts of this repository, with one evaluation of each kind.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeLabelledTexts } from "./texts/labelled.mjs";

/** Labels to find, labels to pass, labels to compare, spans, and texts with prompts. */
const QUICK_EVALUATIONS = [
  "PromptInjection",
  "BanCode at 0.5",
  "EmotionDetection, all emotions",
  "Names in texts of ours",
  "FactualConsistency",
];
const path = (name) => fileURLToPath(new URL(name, import.meta.url));

function evaluate(...args) {
  const command = [path("../scripts/tools.mjs"), "eval", "--suite", path("eval.yml"), ...args];
  return spawnSync(process.execPath, command, { stdio: "inherit" }).status ?? 1;
}

const args = process.argv.slice(2);
if (args.includes("--quick")) {
  console.log(
    "Quick form: the models learnt from some of these texts, so the figures only show that the evaluation runs.\n",
  );
  const data = mkdtempSync(join(tmpdir(), "guard-eval-"));
  try {
    writeLabelledTexts(data);
    const rest = args.filter((arg) => arg !== "--quick");
    process.exitCode = evaluate("--data", data, ...QUICK_EVALUATIONS.flatMap((name) => ["--only", name]), ...rest);
  } finally {
    rmSync(data, { recursive: true });
  }
} else process.exitCode = evaluate(...args);
