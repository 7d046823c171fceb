import { Engine } from "../models/engine.ts";
import { scannerClass } from "../scanners/catalog.ts";
import { modelNames } from "../scanners/model-names.ts";
import { fromSnakeCase, parseOptions } from "../support/options.ts";
import { LISTS, profilesOf } from "./profiles.ts";
import type { Config } from "./schema.ts";

/**
 * Begins to read the models that the scanners of a configuration will load, on threads of the addon, for a program that has other
 * things to load meanwhile: engines of the same settings share what is in memory. What cannot be read is left to the scanner that
 * needs it, which says why.
 *
 * @returns what lets go of the models, to be called when the scanners are loaded.
 */
export function readAhead(config: Config): () => Promise<void> {
  const engine = Engine.fromEnvironment(process.env, { downloads: false });
  const models = config.app.lazyLoad ? [] : modelsNamedIn(config);
  const reading = models.map(async ({ name, maxLength }) =>
    engine.isLinear(name) ? undefined : engine.preload(name, { maxLength }),
  );
  const read = Promise.allSettled(reading);
  return async () => {
    for (const one of await read) if (one.status === "fulfilled") one.value?.();
  };
}

/** The models of guard's own scanners, each once. */
function modelsNamedIn(config: Config): { name: string; maxLength: number | undefined }[] {
  const entries = profilesOf(config).flatMap((profile) =>
    LISTS.flatMap(([side, list]) => profile.config[list].map((entry) => ({ side, ...entry }))),
  );
  const models = entries.flatMap(({ side, type, params }) => {
    // What plugins load is their own affair.
    if (typeof type !== "string") return [];
    const { options: schema } = scannerClass(side, type);
    const options = parseOptions(schema, fromSnakeCase(schema, params ?? {}));
    const { modelMaxLength: maxLength } = options as { modelMaxLength?: number };
    return modelNames({ options }).map((name) => ({ name, maxLength }));
  });
  return [...new Map(models.map((model) => [JSON.stringify(model), model])).values()];
}
