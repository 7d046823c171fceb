import { GuardValidationError } from "../errors.ts";
import { didYouMean } from "./did-you-mean.ts";
import { kindOf } from "./plain-words.ts";

/** What an option has to be, and how that is told. */
interface OptionCheck {
  expected: string;
  holds(value: unknown): boolean;
}

const BOOLEAN: OptionCheck = { expected: "true or false", holds: (value) => typeof value === "boolean" };

/** Checks that stand with what uses the option, which reads all of its value anyway. */
const CHECKED_LATER: OptionCheck = { expected: "", holds: () => true };

/** Also for signals of another realm, such as those of a polyfill. */
function isSignal(value: unknown): boolean {
  const { addEventListener, throwIfAborted } = (value ?? {}) as Partial<AbortSignal>;
  return typeof addEventListener === "function" && typeof throwIfAborted === "function";
}

function oneOf(...words: string[]): OptionCheck {
  return { expected: words.join(" or "), holds: (value) => words.includes(value as string) };
}

const SCAN: Readonly<Record<string, OptionCheck>> = {
  failFast: BOOLEAN,
  suppress: {
    expected: "a list of names of scanners",
    // Names that no scanner has are fine, as in llm-guard: one list may serve both sides. A long list is read once, later.
    holds: Array.isArray,
  },
  onScannerError: oneOf("throw", "block"),
  offsets: oneOf("utf16", "codePoint"),
  vault: CHECKED_LATER,
  signal: { expected: "an AbortSignal", holds: isSignal },
};

const CONVERSATION: Readonly<Record<string, OptionCheck>> = {
  ...SCAN,
  window: { expected: "a whole number of at least 1", holds: (value) => Number.isInteger(value) && Number(value) >= 1 },
  risk: {
    expected: "a ConversationRisk",
    holds: (value) => typeof (value as { assess?: unknown } | null)?.assess === "function",
  },
  windowScanners: CHECKED_LATER,
  toolScanners: CHECKED_LATER,
  rewrite: BOOLEAN,
};

/**
 * Checks the options of `scanPrompt` and `scanOutput`. An option that nobody knows, such as `fail_fast`, would be ignored without
 * a word, and its caller would believe in a check that does not happen.
 *
 * @throws GuardValidationError with the name of every option at fault as its path.
 */
export function checkScanOptions(options: unknown): void {
  check(SCAN, options);
}

/** The same for `scanConversation`. */
export function checkConversationOptions(options: unknown): void {
  check(CONVERSATION, options);
}

/** Without a schema library: every scan pays for it. */
function check(known: Readonly<Record<string, OptionCheck>>, options: unknown): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null || Array.isArray(options)) throw notAnObject(options);
  for (const name in options) {
    const value = (options as Record<string, unknown>)[name];
    // An optional value that is passed on is often undefined, which means its default.
    if (Object.hasOwn(known, name) && (value === undefined || (known[name] as OptionCheck).holds(value))) continue;
    throw faults(known, options);
  }
}

function notAnObject(options: unknown): GuardValidationError {
  const hint =
    typeof options === "boolean"
      ? `: llm-guard's fail_fast is the option { failFast: ${options} } of the last argument here`
      : "";
  return new GuardValidationError([
    { path: "options", message: `expected an object of options, got ${kindOf(options)}${hint}` },
  ]);
}

/** Names that options have in llm-guard and its API. */
const OF_LLM_GUARD: Readonly<Record<string, string>> = { scanners_suppress: "suppress", scan_fail_fast: "failFast" };

function faults(known: Readonly<Record<string, OptionCheck>>, options: object): GuardValidationError {
  const issues = Object.entries(options).flatMap(([path, value]) => {
    const option = Object.hasOwn(known, path) ? known[path] : undefined;
    if (!option) {
      const successor = OF_LLM_GUARD[path];
      const hint =
        successor !== undefined
          ? `; did you mean ${successor}?`
          : didYouMean(path, Object.keys(known)) || `; known are: ${Object.keys(known).join(", ")}`;
      return [{ path, message: `unknown option${hint}` }];
    }
    if (value === undefined || option.holds(value)) return [];
    return [{ path, message: `expected ${option.expected}, got ${described(value)}` }];
  });
  return new GuardValidationError(issues);
}

/** What was given; options of a call are written in programs and are no secrets. */
function described(value: unknown): string {
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 40))}`;
  return typeof value === "number" ? String(value) : kindOf(value);
}
