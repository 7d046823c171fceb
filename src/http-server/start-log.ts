import type { Engine } from "../models/engine.ts";
import { modelFacts } from "../models/model-facts.ts";
import type { Scanner } from "../scan/scanner.ts";
import { modelNames } from "../scanners/model-names.ts";
import type { ScannerLists } from "../service/service-types.ts";

/** Where a configuration comes from. */
export interface ConfigSource {
  /** The file, as an absolute path. */
  file: string;
  /** What has chosen it, such as `CONFIG_FILE`. */
  from: string;
}

/** A line of the log: its message and its fields. */
type LogLine = readonly [fields: Record<string, unknown>, message: string];

/** What the log says at the start of what is served: the file, the scanners of each profile with their models, and the models. */
export function startLines(
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
          { ...(lists.size > 1 ? { profile } : {}), input: input.map(shown), output: output.map(shown) },
          "scanners",
        ] as const,
    ),
    ...(names.length > 0 ? [[{ models: names.map((name) => modelFacts(name, engine)) }, "models"] as const] : []),
  ];
}

/** A scanner with its models, such as `Toxicity (embedded:multitask)`. */
function shown(scanner: Scanner): string {
  const { name, type } = scanner;
  const models = modelNames(scanner);
  const called = name === type ? type : `${name} (a ${type})`;
  return models.length > 0 ? `${called} (${models.join(", ")})` : called;
}
