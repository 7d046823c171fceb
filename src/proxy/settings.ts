import type { Registry } from "prom-client";
import { z } from "zod";
import type { AuthEntry } from "../config/index.ts";
import type { Guard } from "../guard/guard.ts";
import { GuardValidationError } from "../support/errors.ts";
import { parseOptions } from "../support/options.ts";
import { normalPath, readUpstreams, type Upstream } from "./upstreams.ts";

/** The limits of every program that reads calls of model APIs. */
export const LIMITS = {
  pass: z.array(z.string().regex(/^\/[^?#]*$/, "expected a path such as /v1/files or /v1/files/*")).default([]),
  /** Bytes. Anthropic accepts requests of up to 32 MB, OpenAI audio files of 25 MB. */
  maxBodySize: z.number().int().min(1024).default(33_554_432),
  /** Bytes of all bodies in progress. */
  maxOpenBodies: z.number().int().min(1024).optional(),
  /** Bytes. A stream of 128,000 tokens has about 40 MB. */
  maxAnswerSize: z.number().int().min(1024).default(268_435_456),
  /** Bytes of all answers that are held in memory. Whole answers rarely have a megabyte, and streams hold some hundred characters. */
  maxOpenAnswers: z.number().int().min(1024).default(134_217_728),
  maxCalls: z.number().int().min(1).default(256),
  /** Seconds. The timeout of the clients of OpenAI and Anthropic is ten minutes. */
  idleTimeout: z.number().positive().max(86_400).default(600),
};

const schema = z.strictObject({
  ...LIMITS,
  /** Whether other machines may call without a credential of guard. */
  isPublic: z.boolean().default(false),
  upstreams: z.array(z.string()).default([]),
});

/** Upstreams and limits of a proxy, as a user gives them. */
export type ProxyLimits = z.input<typeof schema>;

/** Validated upstreams and limits. */
export interface ProxySettings extends Omit<z.output<typeof schema>, "upstreams"> {
  upstreams: readonly Upstream[];
}

/**
 * Validates limits and adds defaults.
 *
 * @throws GuardValidationError with the path of every invalid value.
 */
export function checkSettings(limits: ProxyLimits): ProxySettings {
  const { upstreams, pass, ...rest } = parseOptions(schema, limits);
  return { ...rest, upstreams: readUpstreams(upstreams), pass: pass.map(normalPath) };
}

/** The guard of a proxy: scanners of this process, or a guard server. */
export interface ProxyGuard {
  guard: Guard;
  /** The registry of metrics, with those of scanners that run in this process. */
  registry: Registry;
  /** Loads models of this process. */
  load(): Promise<void>;
  /** @throws GuardError if calls cannot be checked now. */
  ready(): Promise<void>;
  close(): Promise<void>;
  /** Warnings for the log of the start. */
  warnings: readonly string[];
  /** Lines for the log of the start. */
  logLines: readonly (readonly [fields: Record<string, unknown>, message: string])[];
}

/** Headers with credentials of the upstream, in lower case. */
const UPSTREAM_HEADERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];

/**
 * Returns the headers with credentials of guard, which are not forwarded.
 *
 * @throws GuardValidationError for a header with credentials of the upstream.
 */
export function credentialHeaders(entries: readonly AuthEntry[]): string[] {
  return entries.map((entry, index) => {
    const header = entry.type === "api_key" ? entry.header.toLowerCase() : "authorization";
    if (!UPSTREAM_HEADERS.includes(header)) return header;
    const message = `the proxy forwards the header ${header} to the upstream; use type: api_key with another header, such as X-Guard-Key`;
    throw new GuardValidationError([{ path: `auth.${index}`, message }]);
  });
}
