import { z } from "zod";
import { redis } from "./redis.ts";

/** Seconds. A month has 30 days and a year 360, as in slowapi, which llm-guard uses. */
const UNITS: Record<string, number> = {
  ...{ second: 1, minute: 60, hour: 3600, day: 86_400 },
  ...{ month: 30 * 86_400, year: 360 * 86_400 },
};

/** A number of calls in a time window. */
export interface Rate {
  max: number;
  milliseconds: number;
}

/**
 * Parses one or several rates: `100/minute`, `100 per minute`, `10/5 minutes`, `100/minute;10/second`. Separators are `;`, `,` and `|`, as
 * in slowapi. Duplicates are removed.
 *
 * @returns undefined for invalid rates.
 */
export function parseRates(text: string): Rate[] | undefined {
  const rates = text.split(/[;,|]/).map(parseRate);
  const known = rates.filter((rate) => rate !== undefined);
  if (known.length < rates.length) return undefined;
  return known.filter(
    ({ max, milliseconds }, index) =>
      known.findIndex((other) => other.max === max && other.milliseconds === milliseconds) === index,
  );
}

function parseRate(text: string): Rate | undefined {
  const [, max, count, unit] =
    /^\s*(\d{1,9})\s*(?:\/|\bper\b)\s*(\d{1,6})?\s*(second|minute|hour|day|month|year)s?\s*$/i.exec(text) ?? [];
  if (max === undefined || unit === undefined) return undefined;
  const milliseconds = Number(count ?? 1) * (UNITS[unit.toLowerCase()] as number) * 1000;
  return Number(max) > 0 && milliseconds > 0 ? { max: Number(max), milliseconds } : undefined;
}

/** The default rate of requests without a valid credential by address. */
export const FAILURES = "60/minute";

const rates = z
  .string()
  .refine(
    (text) => parseRates(text) !== undefined,
    "expected a rate such as 100/minute, or several such as 100/minute;10/second",
  );

/** The section `rate_limit`. */
export const rateLimit = z.strictObject({
  enabled: z.boolean().default(false).describe("Limit the requests of each client (status 429)."),
  limit: rates
    .default("100/minute")
    .describe(
      "Requests by second, minute, hour, day, month or year: 100/minute, 10 per 5 minutes. Several rates are separated by ; and all apply.",
    ),
  characters: rates
    .optional()
    .describe(
      "Characters that a client may send, in the format of limit: 1000000/minute. All texts of a body and all pieces of a stream count. Default: no limit.",
    ),
  maxConcurrent: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe("Maximum number of concurrent requests of a client to one server. Default: no limit."),
  key: z.enum(["ip", "credential"]).default("ip").describe("What identifies a client: its address, or its credential."),
  failures: rates
    .default(FAILURES)
    .describe(
      "Requests without a valid credential by address, even if enabled is false. IPv6 addresses count by network (/64).",
    ),
  redis,
  onRedisError: z
    .enum(["allow", "deny"])
    .default("allow")
    .describe("During an outage of Redis: allow all requests, or deny them with status 503."),
});
