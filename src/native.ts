import { createRequire } from "node:module";
import { isNativeError } from "node:util/types";
import type * as Addon from "../native/index.cjs";
import { GuardError } from "./errors.ts";

export type {
  Answer,
  ClaimPart,
  Classification,
  CodePiece,
  EngineInfo,
  EngineTimings,
  ModelHead,
  ModelSpan,
  NativeEngine,
  NativeErrorCode,
  NativeLanguages,
  NativeLinear,
  NativeModel,
  PatternSet,
  PersonalData,
  PiiFinding,
  PiiScan,
  PlaceholderMatching,
  RuleScan,
  SecretRules,
  SubstringSet,
  TokenEncoding,
} from "../native/index.cjs";

const require = createRequire(import.meta.url);

/**
 * The Rust addon, for this platform. A function of it that takes a text returns an `Answer`: the value itself for a short text, and
 * a promise for a longer one, which is worked on in another thread. Call it through {@link native}.
 */
export const addon = require("../native/index.cjs") as typeof Addon;

/**
 * Calls the addon, and turns its errors into {@link GuardError}, thrown or rejected. What the addon answers at once is returned at
 * once; most callers simply write `await native(() => addon.findUrls(text))`.
 */
export function native<Answered>(call: () => Answered): Answered {
  let answer: Answered;
  try {
    answer = call();
  } catch (error) {
    throw guardError(error);
  }
  if (!isPromise(answer)) return answer;
  return answer.catch((error: unknown) => {
    throw guardError(error);
  }) as Answered;
}

/**
 * What `make` makes of an answer: at once where the answer is here, and later where it is a promise. For verdicts whose whole time
 * is a microsecond, of which `await` would be a large part.
 */
export function mapAnswer<T, U>(answer: T | Promise<T>, make: (value: T) => U): U | Promise<Awaited<U>> {
  return isPromise(answer) ? (answer.then(make) as Promise<Awaited<U>>) : make(answer);
}

/**
 * Whether an answer is a promise. Not by `instanceof`: test runners that give each file globals of its own would take the addon's
 * promises for values, and their verdicts for passes.
 */
export function isPromise<T>(answer: T | Promise<T>): answer is Promise<T> {
  return typeof (answer as Partial<Promise<T>> | null | undefined)?.then === "function";
}

/** The fields of the addon's own errors. Node-API throws others, for arguments of another type. */
interface NativeFields {
  code: Addon.NativeErrorCode;
  path?: string;
}

function guardError(error: unknown): unknown {
  if (error instanceof GuardError || !isNativeError(error)) return error;
  const { code, path } = error as Error & Partial<NativeFields>;
  return code?.startsWith("GUARD_") ? new GuardError(code, error.message, path === undefined ? {} : { path }) : error;
}
