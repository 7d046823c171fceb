import { createRequire } from "node:module";
import { isNativeError } from "node:util/types";
import type * as Addon from "../native/index.cjs";
import { GuardError, GuardValidationError, issueOf } from "./support/errors.ts";
import { isPromise } from "./support/maybe-async.ts";

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
 * The Rust addon for this platform. Its functions that take a text return an `Answer`: where the work takes microseconds this is the
 * value itself, and otherwise it is a promise, because a thread of the addon's own pool does the work. Call them through {@link native}.
 */
export const addon = loadAddon();

/** @throws GuardError `GUARD_RUNTIME` when the addon is not there, or is one of another platform. */
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
 * Calls the addon and turns its errors, whether thrown or rejected, into {@link GuardError}. A value that the addon returns at once
 * is returned at once. Most callers simply write `await native(() => addon.findUrls(text), { signal })`.
 *
 * @param call calls one function of the addon that works on texts, or any other one when there is no signal.
 * @param abortable its signal aborts work that runs on another thread: a task in the queue is dropped, and a running one stops at its next
 *   step. The promise then rejects with the reason of the signal. The signal is read only if the addon returns a promise.
 */
export function native<Answered>(call: () => Answered, abortable?: Abortable): Answered {
  let answer: Answered;
  try {
    answer = call();
  } catch (error) {
    throw guardError(error);
  }
  if (!isPromise(answer)) return answer;
  const signal = abortable?.signal;
  if (signal) return stoppedBy(signal, answer) as Answered;
  return answer.catch((error: unknown) => {
    throw guardError(error);
  }) as Answered;
}

/** Stops the work behind a promise, which the addon has just returned, with the signal. */
async function stoppedBy<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  const task = addon.lastTask();
  const onAbort = () => task.abort();
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await answer;
  } catch (error) {
    throw signal.aborted ? signal.reason : guardError(error);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The fields that the addon adds to its own errors. Node-API throws errors without them when an argument has the wrong type. */
interface NativeFields {
  code: Addon.NativeErrorCode;
  path?: string;
}

function guardError(error: unknown): unknown {
  if (error instanceof GuardError || !isNativeError(error)) return error;
  const { code, path } = error as Error & Partial<NativeFields>;
  return code?.startsWith("GUARD_") ? new GuardError(code, error.message, path === undefined ? {} : { path }) : error;
}

/**
 * Builds an object of the addon from options of a scanner.
 *
 * @param pathIn the path of a value in the scanner's options, from its path in the options of the addon. Default: the same.
 * @throws GuardValidationError with the path of the value that the addon refused.
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
