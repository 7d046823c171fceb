import type { Engine } from "../models/engine.ts";
import { describeModel } from "../models/model-description.ts";
import { describeMode } from "../scan/describe-mode.ts";
import type { Mode } from "../scan/mode.ts";
import type { Scanner } from "../scan/scanner.ts";
import { modelNames } from "../scanners/model-names.ts";
import type { ScanService } from "../service/service.ts";

/** Where a configuration comes from. */
export interface ConfigSource {
  /** Absolute path. */
  file: string;
  /** What selected the file, such as `CONFIG_FILE`. */
  from: string;
}

type LogLine = readonly [fields: Record<string, unknown>, message: string];

/** Returns the log lines of a start: the configuration file, the scanners of each profile, and the models. */
export function startLogLines(
  source: ConfigSource | undefined,
  services: ReadonlyMap<string, Pick<ScanService, "lists" | "scanners" | "mode">>,
  engine: Engine,
): LogLine[] {
  const all = [...services.values()].flatMap(({ lists: { input, output } }) => [...input, ...output]);
  const names = [...new Set(all.flatMap(modelNames))].sort();
  return [
    ...(source ? [[{ ...source }, "configuration"] as const] : []),
    ...[...services].flatMap(([profile, service]) => {
      const { input, output } = service.lists;
      const named = services.size > 1 ? { profile } : {};
      return [
        [{ ...named, input: input.map(describe), output: output.map(describe) }, "scanners"] as const,
        ...modeLines(named, service),
      ];
    }),
    ...(names.length > 0 ? [[{ models: names.map((name) => describeModel(name, engine)) }, "models"] as const] : []),
  ];
}

/** Returns the lines about the scanners of a profile that have no effect on texts. */
function modeLines(
  profile: { profile?: string },
  { scanners, mode }: Pick<ScanService, "scanners" | "mode">,
): LogLine[] {
  const namesOf = (wanted: Mode) =>
    (["input", "output"] as const).flatMap((side) =>
      scanners[side].flatMap((item) => describeMode({ ...item, side, mode }, wanted) ?? []),
    );
  return [
    [namesOf("monitor"), "scanners that only monitor: no text is blocked or changed because of them"] as const,
    [namesOf("off"), "scanners that are off"] as const,
  ].flatMap(([names, message]) => (names.length > 0 ? [[{ ...profile, scanners: names }, message] as const] : []));
}

/** Returns a scanner with its models, such as `Bias (embedded:multitask)`. */
function describe(scanner: Scanner): string {
  const { name, type } = scanner;
  const models = modelNames(scanner);
  const label = name === type ? type : `${name} (a ${type})`;
  return models.length > 0 ? `${label} (${models.join(", ")})` : label;
}
