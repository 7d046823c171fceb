import { z } from "zod";
import { redis } from "./redis.ts";

/** The length of units of time in seconds. A month has 30 days and a year 360, as in slowapi, which llm-guard uses. */
const UNITS: Record<string, number> = {
  ...{ second: 1, minute: 60, hour: 3600, day: 86_400 },
  ...{ month: 30 * 86_400, year: 360 * 86_400 },
};

/** How often a client may call. */
export interface Rate {
  max: number;
  milliseconds: number;
}

/**
 * Reads one rate or several: `100/minute`, `100 per minute`, `10/5 minutes`, `100/minute;10/second`. What may stand between rates
 * is `;`, `,` or `|`, as in slowapi. A rate that is given twice is there once.
 *
 * @returns undefined for a text that is not made of rates.
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

/** How many requests without a valid credential an address may send, unless the configuration says it. */
export const FAILURES = "60/minute";

const rates = z
  .string()
  .refine(
    (text) => parseRates(text) !== undefined,
    "expected a rate such as 100/minute, or several such as 100/minute;10/second",
  );

/** The section `rate_limit`. */
export const rateLimit = z.strictObject({
  enabled: z.boolean().default(false).describe("Refuse clients that call too often (status 429)."),
  limit: rates
    .default("100/minute")
    .describe(
      "A number of requests by second, minute, hour, day, month or year: 100/minute, 10 per 5 minutes. Several rates, with ; between, all hold.",
    ),
  characters: rates
    .optional()
    .describe(
      "A number of characters that a client may send, written like limit: 1000000/minute. Those of all texts of a body count, and of all pieces of a stream. By default they are not limited.",
    ),
  maxConcurrent: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe("The most requests of a client that one server answers at a time. By default they are not limited."),
  key: z.enum(["ip", "credential"]).default("ip").describe("Whose calls are counted together."),
  failures: rates
    .default(FAILURES)
    .describe(
      "How many requests without a valid credential an address may send, whether enabled is true or not. An IPv6 address counts with its network (/64).",
    ),
  redis,
  onRedisError: z
    .enum(["allow", "deny"])
    .default("allow")
    .describe(
      "What happens to requests while Redis does not answer: they are not limited, or refused with status 503.",
    ),
});
