import type { Side } from "../scan/scanner.ts";
import { MAIN_PROFILE } from "./main-profile.ts";
import type { Config } from "./schema.ts";

/** The lists of scanners by side, with their keys in a file. */
export const LISTS = [
  ["input", "inputScanners", "input_scanners"],
  ["output", "outputScanners", "output_scanners"],
] as const;

/** The complete configuration of one profile. */
export interface ProfileConfig {
  name: string;
  config: Config;
  /** The paths of its lists in the file. */
  paths: Record<Side, string>;
}

/** Returns the profiles, {@link MAIN_PROFILE} first. A profile inherits every setting that it does not override. */
export function profilesOf(config: Config): ProfileConfig[] {
  const main = { input: "input_scanners", output: "output_scanners" };
  const others = Object.entries(config.profiles).map(([name, { app = {}, ...own }]): ProfileConfig => {
    const pathOf = (list: "inputScanners" | "outputScanners", key: string) =>
      own[list] ? `profiles.${name}.${key}` : key;
    return {
      name,
      config: { ...config, ...defined(own), app: { ...config.app, ...defined(app) }, profiles: {} },
      paths: { input: pathOf("inputScanners", main.input), output: pathOf("outputScanners", main.output) },
    };
  });
  return [{ name: MAIN_PROFILE, config, paths: main }, ...others];
}

function defined<T extends object>(settings: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never;
}
