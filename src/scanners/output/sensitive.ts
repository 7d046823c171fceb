import { z } from "zod";
import { commonOptions } from "../../options.ts";
import { BaseScanner, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { findingsOf, PersonalDataDetector, personalDataOptions, replaced } from "../shared/personal-data.ts";

const schema = z.strictObject({
  ...commonOptions,
  ...personalDataOptions,
  redact: z
    .boolean()
    .default(false)
    .describe("Replaces what was found by its type in angle brackets: <EMAIL_ADDRESS>."),
});

/**
 * Fails answers with personal data, and takes it out when told to.
 *
 * It finds what Anonymize finds (see there for `US_SSN_RE` and `CREDIT_CARD_RE` of llm-guard), but for placeholders and fakes in the vault of the call: those are nobody's.
 */
export class Sensitive extends BaseScanner<typeof schema> {
  static readonly type = "Sensitive";
  static readonly options = schema;
  readonly #detector: PersonalDataDetector;

  /** @throws GuardValidationError for options that cannot be used, with their paths. */
  constructor(options: z.input<typeof schema> = {}) {
    super(Sensitive.type, schema, options);
    this.#detector = new PersonalDataDetector(this.options);
  }

  /** Loads the models. */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#detector.load(signal);
  }

  async close(): Promise<void> {
    await this.#detector.close();
  }

  get sanitizes(): boolean {
    return this.options.redact;
  }

  protected async check(text: string, context: ScanContext): Promise<Verdict> {
    const scan = await this.#detector.find(text, context.vault, context);
    if (scan.findings.length === 0) return passed(text);
    return {
      isValid: false,
      score: this.#detector.score(scan),
      ...(this.options.redact ? { sanitized: replaced(text, scan.findings, ({ entity }) => `<${entity}>`) } : {}),
      findings: findingsOf(text, scan),
      coverage: wholeText(text),
    };
  }
}
