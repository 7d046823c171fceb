import type { z } from "zod";
import { scannerClasses } from "../scanners/catalog.ts";
import { metaOf, toSnakeCase } from "../support/options.ts";
import { LISTS, profilesOf } from "./profiles.ts";
import type { Config } from "./schema.ts";

/** A key of llm-guard without effect in guard. */
export interface IgnoredKey {
  /** The key in snake_case. */
  key: string;
  /** The paths of its values in the file. */
  paths: string[];
  reason: string;
}

/** Returns the distinct keys of a configuration that have an effect in llm-guard only. */
export function ignoredKeys(config: Config): IgnoredKey[] {
  const keys = new Map<string, IgnoredKey>();
  const all = profilesOf(config).flatMap(({ config: own, paths }) =>
    LISTS.map(([side, list]) => [paths[side], { side, entries: own[list] }] as const),
  );
  // Inherited lists have the same path.
  for (const [list, { side, entries }] of new Map(all)) {
    const classes = scannerClasses(side);
    for (const [index, { type, params }] of entries.entries()) {
      // Plugins have no keys of llm-guard.
      const options = typeof type === "string" ? classes.get(type)?.options : undefined;
      const shape = options?.shape as Record<string, z.ZodType> | undefined;
      for (const [name, value] of Object.entries(params)) {
        const key = toSnakeCase(name);
        const option = shape?.[name] ?? shape?.[Object.keys(shape).find((known) => toSnakeCase(known) === key) ?? ""];
        const reason = option && metaOf(option, "ignored");
        if (reason === undefined || value === undefined || value === null) continue;
        const entry = keys.get(key) ?? { key, paths: [], reason };
        entry.paths.push(`${list}.${index}.params.${key}`);
        keys.set(key, entry);
      }
    }
  }
  return [...keys.values()];
}
