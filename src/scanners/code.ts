import { z } from "zod";
import { defineScanner } from "./definition.ts";
import { type CodePiece, codeOptions, codeScanner, neuralCodeScanner } from "./parts/code-pieces.ts";
import { ofLinearModel, ofThreshold } from "./parts/model-options.ts";
import { linearModel } from "./parts/piece-scanner.ts";

export const Code = defineScanner({
  type: "Code",
  summary: "Blocks code in certain programming languages, or in all but certain ones.",
  description:
    "The probabilities of the listed languages are added up, so that code that may be C or C++ is found by either list that has " +
    "both. llm-guard 0.3.16, with `is_blocked: false`, lets a text pass for its first piece in an allowed language and fails texts " +
    "without any code; here every piece must be allowed, and a text without code passes.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...codeOptions(0.5, "programming languages"),
    languages: z
      .array(z.string().min(1))
      .min(1)
      .describe("Programming languages by name or alias, such as Python, C++ or js; upper and lower case are the same.")
      .meta({ formerly: ["allowed", "denied"] }),
    isBlocked: z
      .boolean()
      .default(true)
      .describe("true: code in these languages fails. false: code in any other language fails."),
  }),
  differences: [ofLinearModel, ofThreshold],
  findings: [{ type: "code", label: "The programming language." }],
  examples: {
    options: { languages: ["Python"] },
    passes: ["What is the difference between a list and a tuple?", "```sql\nSELECT name FROM users WHERE id = 7;\n```"],
    fails: ["```python\ndef add(a, b):\n    return a + b\n```"],
  },
  create: (build) => {
    const { languages, isBlocked } = build.options;
    const judge = ({ code, listed, listedLabel, otherLabel }: CodePiece) =>
      isBlocked
        ? { score: listed, label: listedLabel ?? "" }
        : { score: Math.max(0, code - listed), label: otherLabel ?? "" };
    const model = linearModel(build);
    return model ? codeScanner(build, model, judge, languages) : neuralCodeScanner(build, judge, languages);
  },
});
