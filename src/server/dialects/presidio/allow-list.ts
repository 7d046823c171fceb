import type { Finding } from "../../../scan/scanner.ts";
import { AdHocRecognizers } from "../../../scanners/parts/ad-hoc-recognizers.ts";
import { GuardValidationError } from "../../../support/errors.ts";

/** Flags of Python's `re`, and those of guard's expressions. */
const FLAGS = [
  { bit: 2, flag: "i" },
  { bit: 8, flag: "m" },
  { bit: 16, flag: "s" },
  { bit: 64, flag: "x" },
] as const;
/** re.UNICODE is always on. */
const UNICODE = 32;
const DEFAULT_FLAGS = 26;

/** Values that a request wants no results for. */
export class AllowList {
  readonly #values: ReadonlySet<string>;
  readonly #patterns: AdHocRecognizers | undefined;

  private constructor(values: readonly string[], patterns?: AdHocRecognizers) {
    this.#values = new Set(values);
    this.#patterns = patterns;
  }

  /**
   * Returns the list of a request. Undefined if it has none.
   *
   * @throws GuardValidationError for a pattern or a flag that cannot be used.
   */
  static of(request: {
    allow_list?: readonly string[] | null | undefined;
    allow_list_match?: "exact" | "regex" | null | undefined;
    regex_flags?: number | null | undefined;
  }): AllowList | undefined {
    const { allow_list: list, allow_list_match: match, regex_flags: flags } = request;
    if (!list || list.length === 0) return undefined;
    return match === "regex" ? new AllowList([], patternsOf(list, flags ?? DEFAULT_FLAGS)) : new AllowList(list);
  }

  async includes({ text = "" }: Finding): Promise<boolean> {
    if (this.#values.has(text)) return true;
    const matches = await this.#patterns?.find(text, [], undefined, {});
    return matches !== undefined && matches.length > 0;
  }
}

/** Compiles the patterns with the limits of recognizers of a request. */
function patternsOf(list: readonly string[], flags: number): AdHocRecognizers {
  const on = FLAGS.filter(({ bit }) => flags & bit).map(({ flag, bit }) => ({ flag, bit }));
  const known = on.reduce((sum, { bit }) => sum + bit, UNICODE);
  if (flags < 0 || (flags & ~known) !== 0) {
    const message = "may combine only re.IGNORECASE, re.MULTILINE, re.DOTALL and re.VERBOSE";
    throw new GuardValidationError([{ path: "regex_flags", message }]);
  }
  const off = FLAGS.filter(({ bit }) => !(flags & bit));
  const prefix = `(?${on.map(({ flag }) => flag).join("")}${off.length > 0 ? "-" : ""}${off.map(({ flag }) => flag).join("")})`;
  const patterns = list.map((pattern) => ({ name: "allow_list", regex: `${prefix}${pattern}`, score: 1 }));
  try {
    return new AdHocRecognizers([{ name: "allow_list", supported_entity: "ALLOWED", patterns }]);
  } catch (error) {
    if (!(error instanceof GuardValidationError)) throw error;
    const issues = error.issues.map(({ path, message }) => ({
      path: path.replace(/^0\.patterns(?:\.(\d+)\.regex)?.*$/, (_, index) =>
        index === undefined ? "allow_list" : `allow_list.${index}`,
      ),
      message,
    }));
    throw new GuardValidationError(issues, { cause: error });
  }
}
