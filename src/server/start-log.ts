import type { Engine } from "../models/engine.ts";
import { modelFacts } from "../models/model-facts.ts";
import type { Scanner } from "../scanner.ts";
import { modelsOf } from "../scanners/models-of.ts";
import type { ScannerLists } from "../service.ts";

/** Where a configuration comes from. */
export interface ConfigSource {
  /** The file, as an absolute path. */
  file: string;
  /** What has chosen it, such as `CONFIG_FILE`. */
  from: string;
}

/** A line of the log: its message and its fields. */
type LogLine = readonly [fields: Record<string, unknown>, message: string];

/** What the log says at the start of what is served: the file, the scanners with their models, and the models. */
export function startLines(source: ConfigSource | undefined, lists: ScannerLists, engine: Engine): LogLine[] {
  const names = [...new Set([...lists.input, ...lists.output].flatMap(modelsOf))].sort();
  return [
    ...(source ? [[{ ...source }, "configuration"] as const] : []),
    [{ input: lists.input.map(shown), output: lists.output.map(shown) }, "scanners"],
    ...(names.length > 0 ? [[{ models: names.map((name) => modelFacts(name, engine)) }, "models"] as const] : []),
  ];
}

/** A scanner with its models, such as `Toxicity (embedded:multitask)`. */
function shown(scanner: Scanner): string {
  const { name, type } = scanner;
  const models = modelsOf(scanner);
  const called = name === type ? type : `${name} (a ${type})`;
  return models.length > 0 ? `${called} (${models.join(", ")})` : called;
}
