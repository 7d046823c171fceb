import { resolve } from "node:path";
import { z } from "zod";

const file = z
  .string()
  .min(1)
  .describe("The second configuration file. Paths are relative to the folder of this file.");

/** The setting `shadow` of a configuration: a path, or a section. */
export const shadow = z.union([
  file,
  z.strictObject({
    file,
    share: z.number().gt(0).max(1).default(1).describe("The fraction of requests to sample: 0.1 is one in ten."),
    maxConcurrent: z
      .number()
      .int()
      .min(1)
      .max(64)
      .default(1)
      .describe("Maximum number of concurrent scans of the shadow."),
  }),
]);

/** The complete section `shadow`. */
export interface ShadowSettings {
  file: string;
  share: number;
  maxConcurrent: number;
}

/**
 * Completes the setting.
 *
 * @param folder that a path is relative to.
 */
export function shadowSettings(given: z.output<typeof shadow>, folder = "."): ShadowSettings {
  const settings = typeof given === "string" ? { file: given, share: 1, maxConcurrent: 1 } : given;
  return { ...settings, file: resolve(folder, settings.file) };
}
