import { createRequire } from "node:module";
import type * as Addon from "../native/index.cjs";
import { GuardError, type ValidationIssue } from "./errors.ts";

export type {
  Classification,
  EngineInfo,
  EngineSettings,
  ModelHead,
  ModelSpan,
  NativeLanguages,
  NativeLinear,
  NativeModel,
  PairPart,
  PatternSet,
  PersonalData,
  PiiFinding,
  PiiScan,
  RuleScan,
  SecretRules,
  SubstringSet,
  TextReading,
  TokenEncoding,
} from "../native/index.cjs";

const require = createRequire(import.meta.url);

/** The Rust addon, for this platform. */
export const addon = require("../native/index.cjs") as typeof Addon;

/** Texts up to this length are matched at once: handing them to another thread would take longer than the work. */
export const SHORT_TEXT = 8192;

/** Makes a call of the addon that answers at once, and turns its errors into guard's. */
export function nativeNow<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fromNative(error);
  }
}

/** Runs a call of the addon and turns its errors into guard's. */
export async function native<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw fromNative(error);
  }
}

/** The addon puts an error's code in front of its message: `GUARD_MODEL|the model file ... is missing`. */
export function fromNative(error: unknown): unknown {
  const [, code, message] = (error instanceof Error && /^(GUARD_[A-Z_]+)\|(.*)$/s.exec(error.message)) || [];
  return code && message !== undefined ? new GuardError(code, message) : error;
}

/** The value at fault that the addon names by its path, snake_case names and all: `rules.2.pattern|unclosed group`. */
export function issueOf(error: unknown): ValidationIssue | undefined {
  if (!(error instanceof GuardError)) return undefined;
  const [, path, message] = /^([\w.]*)\|(.*)$/s.exec(error.message) ?? [];
  return path === undefined || message === undefined ? undefined : { path, message };
}
