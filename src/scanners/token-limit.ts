import { z } from "zod";
import { addon, native, type TokenEncoding } from "../native.ts";
import { passed, type Verdict, wholeText } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";
import { defineScanner } from "./define-scanner.ts";

/** Returns the number of tokens of a text that exceeds the limit, and the offset where it must be cut. */
type Counter = ReturnType<TokenEncoding["counter"]>;

/** The encodings of tiktoken that the addon knows. */
const ENCODINGS = [
  "cl100k_base",
  "gpt2",
  "o200k_base",
  "o200k_harmony",
  "p50k_base",
  "p50k_edit",
  "r50k_base",
] as const;

export const TokenLimit = defineScanner({
  type: "TokenLimit",
  summary: "Fails texts with more tokens than a limit, and truncates them to the limit.",
  description:
    "A truncated text consists of whole tokens and whole characters. A text of exactly `limit` tokens passes, as llm-guard's documentation " +
    "says. llm-guard 0.3.16 itself fails it.",
  sides: { input: {} },
  options: () => ({
    limit: z
      .number()
      .int()
      .min(1)
      .max(2 ** 31)
      .default(4096)
      .describe("The most tokens of a text that passes."),
    encodingName: z.enum(ENCODINGS).default("cl100k_base").describe("A tiktoken encoding."),
    modelName: z.string().min(1).nullish().describe("An OpenAI model, whose encoding is used instead."),
    tokenizer: z.string().min(1).optional().describe("Path of a tokenizer.json that is used instead."),
  }),
  differences: [
    {
      text: "A text of exactly `limit` tokens passes, as llm-guard's documentation says, and no character is split.",
    },
  ],
  findings: [{ type: "token-limit", label: "The number of tokens, and the limit." }],
  examples: {
    options: { limit: 5 },
    passes: ["Hello there!"],
    fails: [{ text: "one two three four five six seven", sanitized: "one two three four five" }],
  },
  create({ options: { limit, tokenizer, modelName, encodingName } }) {
    let loading: Promise<Counter> | undefined;
    /** The UTF-16 code units of the longest text that cannot exceed the limit. A code unit has at most three bytes in UTF-8. */
    let safeLength = 0;
    const load = (): Promise<Counter> => {
      const [path, source, name] = tokenizer
        ? (["tokenizer", "file", tokenizer] as const)
        : modelName
          ? (["modelName", "model", modelName] as const)
          : (["encodingName", "encoding", encodingName] as const);
      loading ??= native(() => addon.loadEncoding(source, name)).then(
        (encoding) => {
          safeLength = encoding.surelyWithin(limit) / 3;
          return encoding.counter(limit);
        },
        (error: unknown) => {
          // The next call tries again.
          loading = undefined;
          const bad = error instanceof GuardError && error.code === "GUARD_VALIDATION";
          throw bad ? new GuardValidationError([{ path, message: error.message }], { cause: error }) : error;
        },
      );
      return loading;
    };
    const exceeded = (text: string, [tokens, end]: [tokens: number, end: number]): Verdict => ({
      isValid: false,
      score: FAILED,
      edits: [{ start: end, end: text.length, replacement: "" }],
      findings: [
        { start: end, end: text.length, type: "token-limit", score: 1, label: `${tokens} of ${limit} tokens` },
      ],
      coverage: wholeText(text),
    });
    return {
      sanitizes: true,
      load: async () => {
        await load();
      },
      async check(text, context) {
        if (text.length <= safeLength || text.trim() === "") return passed(text);
        const counter = await load();
        const excess = await native(() => counter(text), context);
        return excess ? exceeded(text, excess) : passed(text);
      },
    };
  },
});
