import { createRequire } from "node:module";
import { isNativeError } from "node:util/types";
import type * as Addon from "../native/index.cjs";
import { GuardError, GuardValidationError, issueOf } from "./support/errors.ts";

export type {
  Answer,
  ClaimPart,
  Classification,
  EngineInfo,
  EngineTimings,
  InvisibleScan,
  ModelHead,
  ModelSpan,
  NativeEngine,
  NativeErrorCode,
  NativeLinear,
  NativeModel,
  PatternSet,
  PersonalData,
  PiiFinding,
  PlaceholderMatching,
  ReadingTime,
  Restoration,
  RuleScan,
  RuleTasks,
  SecretRules,
  SubstringSet,
  TokenEncoding,
} from "../native/index.cjs";

const require = createRequire(import.meta.url);

/**
 * The Rust addon for this platform. Its functions on texts return an `Answer`: the value itself if the work takes microseconds, and
 * otherwise a promise, because a thread of the addon's pool does the work. Call them through {@link native}.
 */
export const addon = loadAddon();

/** @throws GuardError `GUARD_RUNTIME` if the addon is missing or belongs to another platform. */
function loadAddon(): typeof Addon {
  try {
    return require("../native/index.cjs");
  } catch (cause) {
    const { platform, arch, version } = process;
    throw new GuardError(
      "GUARD_RUNTIME",
      `guard's addon for ${platform} on ${arch} (Node.js ${version}) could not be loaded. Install guard-scan again on this machine, with ` +
        "optional dependencies (npm install --include=optional guard-scan), or build it with npm run build; the packages of one platform " +
        "do not work on another, and a bundler has to leave guard-scan external (docs/bundlers.md)",
      { cause },
    );
  }
}

/** Options of work that can be aborted, named as in Node.js. A `CallContext` is one. */
export interface Abortable {
  /** Aborts the work. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls the addon and converts its errors, thrown or rejected, to {@link GuardError}. A synchronous result is returned synchronously.
 * Most callers write `await native(() => addon.findUrls(text), context)`.
 *
 * @param call calls one function of the addon. With a signal, it must be a function on texts.
 * @param abortable its signal aborts work that runs on another thread: a task in the queue is dropped, and a running one stops at its next
 *   step. The promise then rejects with the reason of the signal. The signal is read only if the addon returns a promise.
 */
export function native<Answered>(call: () => Answered, abortable?: Abortable): Answered {
  let answer: Answered;
  try {
    answer = call();
  } catch (error) {
    throw toGuardError(error);
  }
  if (!isPromise(answer)) return answer;
  const signal = abortable?.signal;
  if (signal) return abortWith(signal, answer) as Answered;
  return answer.catch((error: unknown) => {
    throw toGuardError(error);
  }) as Answered;
}

/**
 * Tells whether an answer is a promise. It does not use `instanceof`: a test runner that gives each file its own globals would make the
 * addon's promises look like values, and their verdicts would count as passes.
 */
function isPromise<T>(answer: T | Promise<T>): answer is Promise<T> {
  return typeof (answer as Partial<Promise<T>> | null | undefined)?.then === "function";
}

/** Aborts the addon's latest task, which is the work behind the promise, with the signal. */
async function abortWith<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  const task = addon.lastTask();
  const onAbort = () => task.abort();
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await answer;
  } catch (error) {
    throw signal.aborted ? signal.reason : toGuardError(error);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The fields that the addon adds to its errors. Errors of Node-API for a wrong argument type lack them. */
interface NativeFields {
  code: Addon.NativeErrorCode;
  path?: string;
}

function toGuardError(error: unknown): unknown {
  if (error instanceof GuardError || !isNativeError(error)) return error;
  const { code, path } = error as Error & Partial<NativeFields>;
  return code?.startsWith("GUARD_") ? new GuardError(code, error.message, path === undefined ? {} : { path }) : error;
}

/**
 * Creates an object of the addon from options of a scanner.
 *
 * @param pathIn maps a path in the options of the addon to one in the scanner's options. The default is the same path.
 * @throws GuardValidationError with the path of the invalid value.
 */
export function buildNative<T>(make: () => T, pathIn: (path: string) => string = (path) => path): T {
  try {
    return native(make) as T;
  } catch (error) {
    const issue = issueOf(error);
    if (!issue) throw error;
    throw new GuardValidationError([{ ...issue, path: pathIn(issue.path) }], { cause: error });
  }
}
