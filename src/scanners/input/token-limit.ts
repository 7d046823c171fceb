import { z } from "zod";
import { GuardError, GuardValidationError } from "../../errors.ts";
import { addon, native, SHORT_TEXT, type TokenEncoding } from "../../native.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { FAILED } from "../../score.ts";

const schema = z.strictObject({
  ...commonOptions,
  limit: z
    .number()
    .int()
    .min(1)
    .max(2 ** 31)
    .default(4096)
    .describe("The most tokens that pass."),
  encodingName: z.string().min(1).default("cl100k_base").describe("A tiktoken encoding, such as o200k_base."),
  modelName: z.string().min(1).nullish().describe("An OpenAI model, whose encoding is taken instead."),
  tokenizer: z.string().min(1).optional().describe("Path of a tokenizer.json, taken instead."),
});

/**
 * Fails texts of more tokens than a limit and cuts them to it. What remains is whole tokens and whole characters.
 *
 * Unlike in llm-guard 0.3.16, a text of exactly `limit` tokens passes, as the documentation of both says.
 */
export class TokenLimit extends BaseScanner<typeof schema> {
  static readonly type = "TokenLimit";
  static readonly options = schema;
  readonly sanitizes = true;
  #loading: Promise<TokenEncoding> | undefined;

  constructor(options: z.input<typeof schema> = {}) {
    super(TokenLimit.type, schema, options);
  }

  async load(): Promise<void> {
    await this.#encoding();
  }

  protected async check(text: string, _context: ScanContext): Promise<Verdict> {
    if (text.trim() === "") return passed(text);
    const { limit } = this.options;
    const encoding = await this.#encoding();
    const count = text.length <= SHORT_TEXT ? "count" : "countLong";
    const { tokens, end } = await native(() => encoding[count](text, limit));
    if (tokens <= limit) return passed(text);
    return {
      isValid: false,
      score: FAILED,
      sanitized: text.slice(0, end),
      findings: [
        { start: end, end: text.length, type: "token-limit", score: 1, label: `${tokens} of ${limit} tokens` },
      ],
      coverage: wholeText(text),
    };
  }

  #encoding(): Promise<TokenEncoding> {
    const { tokenizer, modelName, encodingName } = this.options;
    const [path, source, name] = tokenizer
      ? ["tokenizer", "file", tokenizer]
      : modelName
        ? ["modelName", "model", modelName]
        : ["encodingName", "encoding", encodingName];
    this.#loading ??= native(() => addon.loadEncoding(source as never, name)).catch((error: unknown) => {
      this.#loading = undefined;
      const bad = error instanceof GuardError && error.code === "GUARD_VALIDATION";
      throw bad ? new GuardValidationError([{ path, message: error.message }], { cause: error }) : error;
    });
    return this.#loading;
  }
}
