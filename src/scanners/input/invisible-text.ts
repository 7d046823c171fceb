import { z } from "zod";
import { addon, native, SHORT_TEXT } from "../../native.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, type Finding, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { FAILED } from "../../score.ts";

const schema = z.strictObject({ ...commonOptions });

/**
 * Finds and removes characters that a reader does not see and a model does: Unicode tags, zero-width characters, bidirectional
 * controls, private use and unassigned code points, runs of variation selectors.
 */
export class InvisibleText extends BaseScanner<typeof schema> {
  static readonly type = "InvisibleText";
  static readonly options = schema;
  readonly sanitizes = true;

  constructor(options: z.input<typeof schema> = {}) {
    super(InvisibleText.type, schema, options);
  }

  protected async check(text: string, _context: ScanContext): Promise<Verdict> {
    // All of these characters are beyond ASCII but two control characters that are not among them.
    if (isAscii(text)) return passed(text);
    const scan = text.length <= SHORT_TEXT ? "scanInvisible" : "scanInvisibleLong";
    const { runs, visible } = await native(() => addon[scan](text));
    if (visible == null) return passed(text);
    const findings = runs.map(
      ({ start, end, kind }): Finding => ({
        start,
        end,
        type: "invisible",
        text: text.slice(start, end),
        score: 1,
        label: kind,
      }),
    );
    return { isValid: false, score: FAILED, sanitized: visible, findings, coverage: wholeText(text) };
  }
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII.
  return /^[\x00-\x7f]*$/.test(text);
}
