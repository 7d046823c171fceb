import type { Registry } from "prom-client";
import { z } from "zod";
import type { AuthEntry } from "../config/index.ts";
import type { Guard } from "../guard/guard.ts";
import { GuardValidationError } from "../support/errors.ts";
import { parseOptions } from "../support/options.ts";
import { normalPath, readUpstreams, type Upstream } from "./upstreams.ts";

/** The limits of a proxy, as a user gives them. */
const schema = z.strictObject({
  upstreams: z.array(z.string()).default([]),
  pass: z.array(z.string().regex(/^\/[^?#]*$/, "expected a path such as /v1/files or /v1/files/*")).default([]),
  /** Bytes. Anthropic takes requests of up to 32 MB, OpenAI sounds of 25 MB. */
  maxBodySize: z.number().int().min(1024).default(33_554_432),
  /** Bytes. An answer of 128,000 tokens that arrives token by token has about 40 MB. */
  maxAnswerSize: z.number().int().min(1024).default(268_435_456),
  maxCalls: z.number().int().min(1).default(256),
  /** Seconds. The clients of OpenAI and Anthropic wait for ten minutes. */
  idleTimeout: z.number().positive().max(86_400).default(600),
});

/** What a proxy stands in front of, and its limits. */
export type ProxyLimits = z.input<typeof schema>;

/** Checked limits. */
export interface ProxySettings extends Omit<z.output<typeof schema>, "upstreams"> {
  upstreams: readonly Upstream[];
}

/**
 * Checks limits and fills in the defaults.
 *
 * @throws GuardValidationError with the path of every value at fault.
 */
export function checkSettings(limits: ProxyLimits): ProxySettings {
  const { upstreams, pass, ...rest } = parseOptions(schema, limits);
  return { ...rest, upstreams: readUpstreams(upstreams), pass: pass.map(normalPath) };
}

/** What judges the calls of a proxy: scanners of this process, or a server of guard. */
export interface ProxyGuard {
  guard: Guard;
  /** Where metrics are. Those of scanners are there when they run in this process. */
  registry: Registry;
  /** Loads the models, where there are any. */
  load(): Promise<void>;
  /** @throws GuardError when calls cannot be judged now. */
  ready(): Promise<void>;
  close(): Promise<void>;
  /** What the log warns of at the start. */
  warnings: readonly string[];
  /** What the log says at the start. */
  lines: readonly (readonly [fields: Record<string, unknown>, message: string])[];
}

/** Headers of requests that belong to upstream, in lower case: guard's own credential must be in another one. */
const OF_UPSTREAM = ["authorization", "x-api-key", "api-key", "cookie"];

/**
 * The headers in which clients show guard's own credential. They are not handed on.
 *
 * @throws GuardValidationError for credentials in a header that is upstream's.
 */
export function credentialHeaders(entries: readonly AuthEntry[]): string[] {
  return entries.map((entry, index) => {
    const header = entry.type === "api_key" ? entry.header.toLowerCase() : "authorization";
    if (!OF_UPSTREAM.includes(header)) return header;
    const message = `the proxy hands on the header ${header} to the upstream; use type: api_key with a header of its own, such as X-Guard-Key`;
    throw new GuardValidationError([{ path: `auth.${index}`, message }]);
  });
}
