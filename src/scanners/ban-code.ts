import { defineScanner } from "./define.ts";
import { codeOptions, codeScanner } from "./parts/code-pieces.ts";
import { ofLinearModel, ofThreshold } from "./parts/model-options.ts";

export const BanCode = defineScanner({
  type: "BanCode",
  summary: "Blocks texts that contain code in any language.",
  description:
    "Markup, configuration and data formats such as JSON count as code. Fenced blocks, code spans and lines that look like code are " +
    "judged one by one, so that code counts wherever it stands in prose.",
  // llm-guard 0.3.16 has these thresholds.
  sides: { input: { threshold: 0.97 }, output: { threshold: 0.9 } },
  options: ({ threshold }) => codeOptions(threshold),
  conversation: { window: true },
  differences: [ofLinearModel, ofThreshold],
  findings: [{ type: "code", label: "The programming language." }],
  examples: {
    passes: ["Could you explain what a linked list is?", "- milk\n- bread\n- 3 apples"],
    fails: ["```python\nfor i in range(10):\n    print(i * 2)\n```"],
  },
  create: (build) => codeScanner(build, ({ code, listedLabel }) => ({ score: code, label: listedLabel ?? "" })),
});
