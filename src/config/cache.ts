import { z } from "zod";
import { redis } from "./redis.ts";

/** The section `cache`. */
export const cache = z.strictObject({
  enabled: z.boolean().optional().describe("Cache the results of scans. Default: false."),
  ttl: z.number().positive().max(31_536_000).default(3600).describe("Seconds until a result expires."),
  maxSize: z
    .number()
    .int()
    .positive()
    .nullish()
    .describe("Maximum number of results in memory, besides a limit of 64 MiB. With Redis, Redis decides."),
  redis,
});
