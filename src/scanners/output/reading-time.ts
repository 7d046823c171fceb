import { z } from "zod";
import { addon, native, SHORT_TEXT } from "../../native.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { FAILED, round } from "../../score.ts";

const schema = z.strictObject({
  ...commonOptions,
  maxTime: z.number().min(0).describe("The most minutes that reading the text may take."),
  truncate: z.boolean().default(false).describe("Cuts texts that take longer, after the last word that fits."),
});

/**
 * Fails texts that take too long to read.
 *
 * 200 words a minute, as in llm-guard 0.3.16. Chinese, Japanese, Thai, Lao, Khmer and Burmese, which llm-guard takes for one
 * word between two spaces, are counted in characters: 255 a minute for Chinese and 357 for Japanese (Trauzettel-Klosinski and
 * Dietz 2012, IReST), 620 for the others (200 words of 3.1 characters).
 *
 * What remains of a text that is cut stays as it is; llm-guard also replaced its line breaks by spaces.
 */
export class ReadingTime extends BaseScanner<typeof schema> {
  static readonly type = "ReadingTime";
  static readonly options = schema;

  constructor(options: z.input<typeof schema>) {
    super(ReadingTime.type, schema, options);
  }

  get sanitizes(): boolean {
    return this.options.truncate;
  }

  protected async check(text: string, _context: ScanContext): Promise<Verdict> {
    const { maxTime, truncate } = this.options;
    const measure = text.length <= SHORT_TEXT ? "readingTime" : "readingTimeLong";
    const { minutes, end } = await native(() => addon[measure](text, maxTime));
    if (minutes <= maxTime) return passed(text);
    return {
      isValid: false,
      score: FAILED,
      ...(truncate ? { sanitized: text.slice(0, end) } : {}),
      findings: [
        {
          start: end,
          end: text.length,
          type: "reading-time",
          score: 1,
          label: `${round(minutes, 2)} of ${maxTime} minutes`,
        },
      ],
      coverage: wholeText(text),
    };
  }
}
