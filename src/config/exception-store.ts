import { z } from "zod";
import { redis } from "./redis.ts";

/** The section `exceptions`. */
export const exceptionStore = z
  .strictObject({
    file: z.string().min(1).optional().describe("A file. Its folder must exist. Default: the memory of the server."),
    redis,
  })
  .superRefine(({ file, redis }, context) => {
    if (file === undefined || redis === undefined) return;
    context.addIssue({ code: "custom", path: ["file"], message: "cannot be combined with redis" });
  });
