import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import type { LazyAbortController } from "../support/lazy-abort-controller.ts";
import { describeKind } from "../support/schema-messages.ts";
import type { OffsetUnit } from "../text/offsets.ts";
import type { ChatRequest } from "./chat-request.ts";
import type { Scope } from "./check-result.ts";
import type { EditedText } from "./edits.ts";
import type { Exceptions } from "./exceptions/exceptions.ts";
import { MODES, type ModeSetting, modeSetting } from "./mode.ts";
import type { ScanObserver } from "./observer.ts";
import { SCAN_GROUPS, SOURCES, type Source } from "./source.ts";
import type { Vault } from "./vault.ts";
import type { VerdictCache } from "./verdict-cache.ts";

/** The options of a scan. */
export interface ScanOptions {
  /** Whether to stop after the first failing scanner. Later scanners then have no result. The default is false. */
  failFast?: boolean;
  /** The scanners to skip, by their types or by their names in results. */
  suppress?: readonly string[];
  /**
   * The effect of a scanner that throws. `throw` (the default) rejects the call with a {@link ScannerError}. `block` makes the text invalid,
   * with a score of 1 for that scanner. A scanner that throws never counts as a pass.
   */
  onScannerError?: "throw" | "block";
  /**
   * The vault in which the scanners of this call store replaced values, and from which they restore them. Pass the vault that
   * {@link scanPrompt} filled to {@link scanOutput}. A scanner with its own vault uses that one instead. Without a vault, replaced values
   * cannot be restored. Never share a vault between callers.
   */
  vault?: Vault;
  /** The source of the text. The default is `user` for prompts and `assistant` for outputs. */
  source?: Source;
  /**
   * The conversation of the text, or before an output. Some scanners compare the text with it, such as those that look for the system prompt
   * in an answer.
   */
  conversation?: ChatRequest;
  /**
   * With `monitor`, no check has an effect: the text goes on unchanged and is valid, and the failing checks are only reported. With `off`, no
   * check runs. Of this mode and that of a scanner, the least strict wins. The default is `enforce`.
   */
  mode?: ModeSetting | undefined;
  /** Aborts the scan. */
  signal?: AbortSignal;
  /** Receives the start and end of every scanner, and its calls of models. */
  observer?: ScanObserver;
  /** Texts and passages that scanners must not fail. */
  exceptions?: Exceptions | undefined;
  /** The name of the caller, for exceptions of credentials. */
  credential?: string | undefined;
}

/** The options of {@link scanText}. */
export interface RunOptions extends Omit<ScanOptions, "suppress" | "source" | "conversation"> {
  /** The scanners to skip. A caller that scans several texts calls {@link suppressedNames} once and passes the set. */
  suppress?: readonly string[] | ReadonlySet<string>;
  /**
   * With `true` (the default), each scanner reads the text as rewritten by the scanners before it. With `false`, all scanners read the
   * original concurrently, with a copy of the vault, because the caller never receives the placeholders.
   */
  rewrite?: boolean;
  /** Whether all scanners enforce, whatever their modes. */
  ignoresModes?: boolean;
  /** The scope of the checks. The default is `latest`. */
  scope?: Scope;
  /** The unit of offsets and lengths in results. The default is `utf16`; the HTTP API counts code points. */
  offsets?: OffsetUnit;
  /** The texts that were joined by line breaks to the scanned text, such as the messages of a window. Exact exceptions apply to each. */
  joined?: readonly JoinedText[] | undefined;
  /** Caches verdicts. */
  verdicts?: VerdictCache;
  /** Stops this call. It replaces `signal` if the caller also stops the call when it ends early. */
  stop?: LazyAbortController | undefined;
  /** Receives the text after each scanner that may rewrite it. */
  onRewritten?(scanner: string, text: EditedText): void;
  /** Receives the work of every scanner at its start. The work may outlive an aborted call if a scanner ignores the signal. */
  onWork?(work: Promise<unknown>): void;
}

/** A text within a joined text. */
export interface JoinedText {
  /** The text as it was joined. */
  text: string;
  /** The text as the caller sent it. */
  original: string;
}

/** A check of one option, and a description of valid values. */
interface OptionCheck {
  expected: string;
  holds(value: unknown): boolean;
}

const BOOLEAN: OptionCheck = { expected: "true or false", holds: (value) => typeof value === "boolean" };

/** For options that are validated where they are used, because that code reads the whole value anyway. */
const CHECKED_LATER: OptionCheck = { expected: "", holds: () => true };

/** Whether a value is an AbortSignal. It checks the methods, so that signals of other realms and polyfills are accepted. */
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
    // Unknown names are accepted, as in llm-guard, because one list may serve both sides. The entries are read later, so that a long
    // list is read only once.
    holds: Array.isArray,
  },
  onScannerError: oneOf("throw", "block"),
  vault: CHECKED_LATER,
  source: oneOf(...SOURCES),
  conversation: CHECKED_LATER,
  mode: {
    expected: `${MODES.join(", ")}, or one of them by source`,
    holds: (value) => modeSetting.safeParse(value).success,
  },
  signal: { expected: "an AbortSignal", holds: isSignal },
  observer: {
    expected: "a ScanObserver, an object with scannerStarted()",
    holds: (value) => typeof (value as { scannerStarted?: unknown } | null)?.scannerStarted === "function",
  },
  exceptions: {
    expected: "Exceptions, such as Exceptions.of([...])",
    holds: (value) => typeof (value as { hashOf?: unknown } | null)?.hashOf === "function",
  },
  credential: { expected: "a name", holds: (value) => typeof value === "string" },
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

/** Validates options without a schema library, because every scan pays for this check. */
function check(known: Readonly<Record<string, OptionCheck>>, options: unknown): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null || Array.isArray(options)) throw notAnObject(options);
  for (const name in options) {
    const value = (options as Record<string, unknown>)[name];
    // An undefined option means the default, because callers often pass optional values on.
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

/** llm-guard's names of options. */
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

/** Describes a value. It may quote texts, because the options of a call are written in programs and are not secrets. */
function describeValue(value: unknown): string {
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 40))}`;
  return typeof value === "number" ? String(value) : describeKind(value);
}
