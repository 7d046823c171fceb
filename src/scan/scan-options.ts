import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import type { LazyAbortController } from "../support/lazy-abort-controller.ts";
import { describeKind } from "../support/schema-messages.ts";
import type { OffsetUnit } from "../text/offsets.ts";
import type { ChatRequest } from "./chat-request.ts";
import type { Scope } from "./check-result.ts";
import type { EditedText } from "./edits.ts";
import type { ScanObserver } from "./observer.ts";
import { SCAN_GROUPS, SOURCES, type Source } from "./source.ts";
import type { Vault } from "./vault.ts";
import type { VerdictCache } from "./verdict-cache.ts";

/** The options that say how a list of scanners runs. */
export interface ScanOptions {
  /** Whether the scan stops after the first scanner that fails. Scanners behind it in the list then have no result. The default is false. */
  failFast?: boolean;
  /** The scanners to leave out, by their types or by their names in results. */
  suppress?: readonly string[];
  /**
   * What happens when a scanner throws. `throw` (the default) rejects the call with a {@link ScannerError}. `block` makes the text
   * invalid, with a score of 1 for that scanner. A scanner that throws never counts as a pass.
   */
  onScannerError?: "throw" | "block";
  /**
   * The vault in which the scanners of this call keep the originals of what they replace, and from which they restore them. Pass
   * the vault that {@link scanPrompt} filled to {@link scanOutput}. A scanner that has a vault of its own uses that one instead.
   * Without any vault, replaced values can't be restored. Never share a vault between callers.
   */
  vault?: Vault;
  /** Where the text comes from. The default is `user` for prompts and `assistant` for outputs. */
  source?: Source;
  /**
   * The conversation that the text belongs to: for an output, the conversation that it answers. Some scanners compare with it, such as
   * those that look for the system prompt in an answer.
   */
  conversation?: ChatRequest;
  /** Aborts the scan. */
  signal?: AbortSignal;
  /** Is told of every scanner that starts and ends, and of the models that it asks. */
  observer?: ScanObserver;
}

/** How {@link scanText} treats one text and its results. */
export interface RunOptions extends Omit<ScanOptions, "suppress" | "source" | "conversation"> {
  /** The scanners to leave out. A caller that scans several texts calls {@link suppressedNames} once and passes the set. */
  suppress?: readonly string[] | ReadonlySet<string>;
  /**
   * With `true` (the default), each scanner reads the text as the scanners before it rewrote it. With `false`, all scanners read the
   * original at the same time, and get a copy of the vault: placeholders that no caller receives must not be in the vault itself.
   */
  rewrite?: boolean;
  /** Which texts of a call the checks look at. The default is `latest`. */
  scope?: Scope;
  /** The unit of offsets and lengths in results. The default is `utf16`; the HTTP API counts code points. */
  offsets?: OffsetUnit;
  /** Caches verdicts. */
  verdicts?: VerdictCache;
  /** Stops this call. It takes the place of `signal` where the caller stops it too when the call ends early. */
  stop?: LazyAbortController | undefined;
  /** Is given the text after each scanner that may rewrite it. */
  onRewritten?(scanner: string, text: EditedText): void;
  /** Is given the work of every scanner as it starts. The work may go on after the call was aborted, if a scanner ignores the signal. */
  onWork?(work: Promise<unknown>): void;
}

/** A check of one option, and the words that say what the option has to be. */
interface OptionCheck {
  expected: string;
  holds(value: unknown): boolean;
}

const BOOLEAN: OptionCheck = { expected: "true or false", holds: (value) => typeof value === "boolean" };

/** The check for options that are checked where they are used, because that code reads the whole value anyway. */
const CHECKED_LATER: OptionCheck = { expected: "", holds: () => true };

/**
 * Tells whether a value is an AbortSignal. It looks at the methods, so that signals of another realm or of a polyfill are accepted
 * too.
 */
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
    // Names that no scanner has are accepted, as in llm-guard, because one list may serve both sides. The entries of the list are
    // read later, so that a long list is read only once.
    holds: Array.isArray,
  },
  onScannerError: oneOf("throw", "block"),
  vault: CHECKED_LATER,
  source: oneOf(...SOURCES),
  conversation: CHECKED_LATER,
  signal: { expected: "an AbortSignal", holds: isSignal },
  observer: {
    expected: "a ScanObserver, an object with scannerStarted()",
    holds: (value) => typeof (value as { scannerStarted?: unknown } | null)?.scannerStarted === "function",
  },
};

const COUNT: OptionCheck = {
  expected: "a whole number of at least 0",
  holds: (value) => Number.isInteger(value) && Number(value) >= 0,
};

const STREAM: Readonly<Record<string, OptionCheck>> = {
  ...SCAN,
  holdbackChars: COUNT,
  holdbackMs: COUNT,
  wholeChars: COUNT,
  masking: { expected: "a list of names of scanners", holds: Array.isArray },
};

const { source: _, conversation: __, ...COMMON } = SCAN;

const CONVERSATION: Readonly<Record<string, OptionCheck>> = {
  ...COMMON,
  tools: CHECKED_LATER,
  system: CHECKED_LATER,
  scan: {
    expected: `an object with lists of scanners under ${SCAN_GROUPS.join(", ")}`,
    holds: (value) => isRecord(value) && Object.keys(value).every((key) => SCAN_GROUPS.some((known) => known === key)),
  },
  verdicts: {
    expected: "a VerdictCache",
    holds: (value) => typeof (value as { prefetch?: unknown } | null)?.prefetch === "function",
  },
  window: { expected: "a whole number of at least 1", holds: (value) => Number.isInteger(value) && Number(value) >= 1 },
  risk: {
    expected: "a ConversationRisk, such as ConversationRisk.fromScanner(scanner, { decay: 0.7 })",
    holds: (value) => typeof (value as { assess?: unknown } | null)?.assess === "function",
  },
  windowScanners: CHECKED_LATER,
  toolScanners: CHECKED_LATER,
  rewrite: BOOLEAN,
};

const DOCUMENTS: Readonly<Record<string, OptionCheck>> = {
  ...COMMON,
  source: oneOf(...SOURCES),
  maskInjections: BOOLEAN,
  rewrite: BOOLEAN,
};

/**
 * Checks the options of `scanPrompt` and `scanOutput`. Without this check an unknown option, such as `fail_fast`, would be silently
 * ignored, and the caller would rely on a check that does not happen.
 *
 * @throws GuardValidationError with the name of every option at fault as its path.
 */
export function checkScanOptions(options: unknown): void {
  check(SCAN, options);
}

/** Checks the options of `scanOutputStream` in the same way. */
export function checkStreamOptions(options: unknown): void {
  check(STREAM, options);
}

/** Checks the options of `scanConversation` in the same way. */
export function checkConversationOptions(options: unknown): void {
  check(CONVERSATION, options);
}

/** Checks the options of `scanDocuments` in the same way. */
export function checkDocumentsOptions(options: unknown): void {
  check(DOCUMENTS, options);
}

/** Checks options without a schema library, because every scan pays for this check. */
function check(known: Readonly<Record<string, OptionCheck>>, options: unknown): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null || Array.isArray(options)) throw notAnObject(options);
  for (const name in options) {
    const value = (options as Record<string, unknown>)[name];
    // Callers often pass on an optional value that is undefined, which means the default.
    if (Object.hasOwn(known, name) && (value === undefined || (known[name] as OptionCheck).holds(value))) continue;
    throw optionsError(known, options);
  }
}

function notAnObject(options: unknown): GuardValidationError {
  const hint =
    typeof options === "boolean"
      ? `: llm-guard's fail_fast is the option { failFast: ${options} } of the last argument here`
      : "";
  return new GuardValidationError([
    { path: "options", message: `expected an object of options, got ${describeKind(options)}${hint}` },
  ]);
}

/** The names that llm-guard and its API have for options. */
const LLM_GUARD_NAMES: Readonly<Record<string, string>> = { scanners_suppress: "suppress", scan_fail_fast: "failFast" };

function optionsError(known: Readonly<Record<string, OptionCheck>>, options: object): GuardValidationError {
  const issues = Object.entries(options).flatMap(([path, value]) => {
    const option = Object.hasOwn(known, path) ? known[path] : undefined;
    if (!option) {
      const successor = LLM_GUARD_NAMES[path];
      const hint =
        successor !== undefined
          ? `; did you mean ${successor}?`
          : didYouMean(path, Object.keys(known)) || `; known are: ${Object.keys(known).join(", ")}`;
      return [{ path, message: `unknown option${hint}` }];
    }
    if (value === undefined || option.holds(value)) return [];
    return [{ path, message: `expected ${option.expected}, got ${describeValue(value)}` }];
  });
  return new GuardValidationError(issues);
}

/** Describes what was given. It may quote texts, because the options of a call are written in programs and are not secrets. */
function describeValue(value: unknown): string {
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 40))}`;
  return typeof value === "number" ? String(value) : describeKind(value);
}
