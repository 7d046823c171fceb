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
    const merged: Config = { ...config, ...defined(own), app: { ...config.app, ...defined(app) }, profiles: {} };
    return {
      name,
      config: app.masking ? merged : withMasking(merged, (masked) => hasScanner(merged, masked)),
      paths: { input: pathOf("inputScanners", main.input), output: pathOf("outputScanners", main.output) },
    };
  });
  const isOfOthers = (masked: string) => others.some(({ config }) => hasScanner(config, masked));
  const own = withMasking(config, (masked) => hasScanner(config, masked) || !isOfOthers(masked));
  return [{ name: MAIN_PROFILE, config: own, paths: main }, ...others];
}

/** Returns the configuration without the names in `app.masking` of scanners that only other profiles have. */
function withMasking(config: Config, isKept: (masked: string) => boolean): Config {
  const masking = config.app.masking.filter(isKept);
  return masking.length === config.app.masking.length ? config : { ...config, app: { ...config.app, masking } };
}

/** Whether a list has a scanner of this type or name. The second scanner of a name has `#2` after it. */
export function hasScanner({ inputScanners, outputScanners }: Config, wanted: string): boolean {
  const base = wanted.replace(/#\d+$/, "");
  return [...inputScanners, ...outputScanners].some(({ type, name, params }) => {
    const names = [typeof type === "string" ? type : type.definition.type, name ?? params.name];
    return names.includes(wanted) || names.includes(base);
  });
}

function defined<T extends object>(settings: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never;
}
