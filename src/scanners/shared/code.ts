import { z } from "zod";
import { type CodePiece, CodePieces, codeOptions, type Judgement } from "./code-pieces.ts";

const schema = z.strictObject({
  ...codeOptions(0.5),
  languages: z
    .array(z.string().min(1))
    .min(1)
    .describe("Programming languages by name or alias, such as Python, C++ or js; upper and lower case are the same."),
  isBlocked: z
    .boolean()
    .default(true)
    .describe("true: code in these languages fails. false: code in any other language fails."),
});

/**
 * Blocks code in certain programming languages, or in all but certain ones.
 *
 * The probabilities of the listed languages are added up, so that code that may be C or C++ is found by either list that has
 * both. Unlike llm-guard 0.3.16, which with `isBlocked: false` lets a text pass for its first piece in an allowed language and
 * fails texts without any code, every piece must be allowed here and a text without code passes.
 */
export class Code extends CodePieces<typeof schema> {
  static readonly type = "Code";
  static readonly options = schema;

  /** @throws GuardValidationError for a language that the model does not know; the error lists those that it does. */
  constructor(options: z.input<typeof schema>) {
    super(Code.type, schema, options, Array.isArray(options?.languages) ? options.languages : []);
  }

  protected judge({ code, listed, listedLabel, otherLabel }: CodePiece): Judgement {
    return this.options.isBlocked
      ? { score: listed, label: listedLabel ?? "" }
      : { score: Math.max(0, code - listed), label: otherLabel ?? "" };
  }
}
