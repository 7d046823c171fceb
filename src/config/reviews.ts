import { z } from "zod";
import { redis } from "./redis.ts";

/** The section `reviews`. */
export const reviews = z.strictObject({
  expires: z
    .number()
    .int()
    .min(60)
    .max(2_592_000)
    .default(86_400)
    .describe("Seconds that a text waits for a decision. A rejection ends at the same time."),
  approvalExpires: z
    .number()
    .int()
    .min(60)
    .max(31_536_000)
    .default(2_592_000)
    .describe("Seconds that an approved text passes."),
  redis,
});
