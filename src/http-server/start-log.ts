import type { Engine } from "../models/engine.ts";
import { describeModel } from "../models/model-description.ts";
import type { Scanner, ScannerLists } from "../scan/scanner.ts";
import { modelNames } from "../scanners/model-names.ts";

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
  lists: ReadonlyMap<string, ScannerLists>,
  engine: Engine,
): LogLine[] {
  const all = [...lists.values()].flatMap(({ input, output }) => [...input, ...output]);
  const names = [...new Set(all.flatMap(modelNames))].sort();
  return [
    ...(source ? [[{ ...source }, "configuration"] as const] : []),
    ...[...lists].map(
      ([profile, { input, output }]) =>
        [
          { ...(lists.size > 1 ? { profile } : {}), input: input.map(describe), output: output.map(describe) },
          "scanners",
        ] as const,
    ),
    ...(names.length > 0 ? [[{ models: names.map((name) => describeModel(name, engine)) }, "models"] as const] : []),
  ];
}

/** Returns a scanner with its models, such as `Toxicity (embedded:multitask)`. */
function describe(scanner: Scanner): string {
  const { name, type } = scanner;
  const models = modelNames(scanner);
  const label = name === type ? type : `${name} (a ${type})`;
  return models.length > 0 ? `${label} (${models.join(", ")})` : label;
}
