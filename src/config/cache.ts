import { z } from "zod";
import { redis } from "./redis.ts";

/** The section `cache`. */
export const cache = z.strictObject({
  enabled: z
    .boolean()
    .optional()
    .describe("Keep the results of scans, and answer the same request from them. Default: false."),
  ttl: z.number().positive().max(31_536_000).default(3600).describe("Seconds that a result is kept."),
  maxSize: z
    .number()
    .int()
    .positive()
    .nullish()
    .describe("Most results in memory. With and without it they take 64 MiB at most. With Redis, Redis decides."),
  redis,
});
