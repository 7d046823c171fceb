import { defineScanner } from "./define-scanner.ts";
import { codeOptions, codeScanner } from "./parts/code-pieces.ts";
import { labelScanner } from "./parts/label-scanner.ts";
import { linearModelDifference, thresholdDifference } from "./parts/model-options.ts";
import { linearModel } from "./parts/piece-scanner.ts";
import { onUntrainedLanguageOption } from "./parts/untrained-languages.ts";

/** The label of models that only tell code from prose. */
const CODE = "CODE";

export const BanCode = defineScanner({
  type: "BanCode",
  summary: "Blocks texts that contain code in any language.",
  description:
    "Markup, configuration and data formats such as JSON count as code. Fenced blocks, code spans and lines that look like code are " +
    "scored one by one, so code is found within prose. Lists, forms, logs, formulas and error messages are not code.",
  // llm-guard 0.3.16 has these thresholds.
  sides: { input: { threshold: 0.97 }, output: { threshold: 0.9 } },
  options: ({ threshold }) => ({
    ...codeOptions(threshold, `code and prose, with the label ${CODE}`),
    onUntrainedLanguage: onUntrainedLanguageOption,
  }),
  conversation: { window: true },
  differences: [linearModelDifference, thresholdDifference],
  findings: [{ type: "code", label: "The programming language." }],
  examples: {
    passes: ["Could you explain what a linked list is?", "- milk\n- bread\n- 3 apples"],
    fails: ["```python\nfor i in range(10):\n    print(i * 2)\n```"],
  },
  create(build) {
    const model = linearModel(build);
    if (model) return codeScanner(build, model, ({ code, listedLabel }) => ({ score: code, label: listedLabel ?? "" }));
    const labels = { head: "code", labels: [CODE], option: "model", all: true };
    return labelScanner({ ...build, options: { ...build.options, matchType: "windows" } }, { labels, finding: "code" });
  },
});
