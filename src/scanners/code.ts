import { z } from "zod";
import { defineScanner } from "./define-scanner.ts";
import { type CodePiece, codeOptions, codeScanner, neuralCodeScanner } from "./parts/code-pieces.ts";
import { linearModelDifference, thresholdDifference } from "./parts/model-options.ts";
import { linearModel } from "./parts/piece-scanner.ts";

export const Code = defineScanner({
  type: "Code",
  summary: "Blocks code in certain programming languages, or in all but certain ones.",
  description:
    "The probabilities of the listed languages are added up: code that may be C or C++ is found if both are listed. With " +
    "`is_blocked: false`, llm-guard 0.3.16 passes a text if its first piece is in an allowed language, and fails texts without code. Here " +
    "every piece must be allowed, and a text without code passes.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...codeOptions(0.5, "programming languages"),
    languages: z
      .array(z.string().min(1))
      .min(1)
      .describe("Programming languages by name or alias, in any case, such as Python, C++ or js.")
      .meta({ formerly: ["allowed", "denied"] }),
    isBlocked: z
      .boolean()
      .default(true)
      .describe("true: code in these languages fails. false: code in any other language fails."),
  }),
  differences: [linearModelDifference, thresholdDifference],
  findings: [{ type: "code", label: "The programming language." }],
  examples: {
    options: { languages: ["Python"] },
    passes: ["What is the difference between a list and a tuple?", "```sql\nSELECT name FROM users WHERE id = 7;\n```"],
    fails: ["```python\ndef add(a, b):\n    return a + b\n```"],
  },
  create: (build) => {
    const { languages, isBlocked } = build.options;
    const scorePiece = ({ code, listed, listedLabel, otherLabel }: CodePiece) =>
      isBlocked
        ? { score: listed, label: listedLabel ?? "" }
        : { score: Math.max(0, code - listed), label: otherLabel ?? "" };
    const model = linearModel(build);
    return model ? codeScanner(build, model, scorePiece, languages) : neuralCodeScanner(build, scorePiece, languages);
  },
});
