import type { ModelEntry } from "../models/model.ts";
import { type Command, parse, print, UsageError } from "./command.ts";

const options = {
  json: { type: "boolean", help: "print JSON" },
} as const;

/** `guard models`: lists the models on this machine. */
export const models: Command = {
  name: "models",
  summary: "Lists the models that come with guard and those in the cache folder.",
  usage: "guard models [--json]",
  options,
  notes: "The cache folder is GUARD_MODELS_DIR, or a folder guard/models in the user's cache.",
  async run(args) {
    const { values, positionals } = parse(options, args);
    if (positionals.length > 0) throw new UsageError(`unexpected argument ${positionals[0]}`);
    const { listModels } = await import("../models/model.ts");
    const entries = listModels();
    if (values.json) {
      const plain = entries.map(({ model, source, size, labels, license = null }) => ({
        name: model,
        source,
        size,
        labels,
        license,
      }));
      await print(`${JSON.stringify(plain, null, 2)}\n`);
    } else {
      await print(table(entries));
    }
    return 0;
  },
};

function table(entries: readonly ModelEntry[]): string {
  const rows = entries.map(({ model, source, size, labels, license }) => [
    model,
    source,
    `${(size / 1e6).toFixed(1)} MB`,
    labels.join(", "),
    license ?? "unknown",
  ]);
  const all = [["NAME", "SOURCE", "SIZE", "LABELS", "LICENSE"], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => (row[column] as string).length))) ?? [];
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
