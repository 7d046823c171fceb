import { resolve } from "node:path";
import { z } from "zod";

const file = z
  .string()
  .min(1)
  .describe("The second configuration; a path is relative to the folder of the file that names it.");

/** The setting `shadow` of a configuration: a path, or a section. */
export const shadow = z.union([
  file,
  z.strictObject({
    file,
    share: z
      .number()
      .gt(0)
      .max(1)
      .default(1)
      .describe("The share of the requests that it judges too, chosen by chance: 0.1 is one in ten."),
    maxConcurrent: z.number().int().min(1).max(64).default(1).describe("The most scans that it runs at a time."),
  }),
]);

/** The section `shadow` with all that it may have. */
export interface ShadowSettings {
  file: string;
  share: number;
  maxConcurrent: number;
}

/**
 * Turns the setting into a section.
 *
 * @param folder what a path is relative to.
 */
export function shadowSettings(given: z.output<typeof shadow>, folder = "."): ShadowSettings {
  const settings = typeof given === "string" ? { file: given, share: 1, maxConcurrent: 1 } : given;
  return { ...settings, file: resolve(folder, settings.file) };
}
