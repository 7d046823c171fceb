import { Engine } from "../models/engine.ts";
import { scannerClass } from "../scanners/catalog.ts";
import { modelNames } from "../scanners/model-names.ts";
import { fromSnakeCase, parseOptions } from "../support/options.ts";
import { LISTS, profilesOf } from "./profiles.ts";
import type { Config } from "./schema.ts";

/**
 * Starts to read the models of a configuration on threads of the addon, while the program loads modules. Engines with the same settings
 * share models in memory. Errors are ignored: the scanner that needs the model reports them.
 *
 * @returns a function that releases the models. Call it when the scanners are loaded.
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

/** Returns the distinct models of built-in scanners. */
function modelsNamedIn(config: Config): { name: string; maxLength: number | undefined }[] {
  const entries = profilesOf(config).flatMap((profile) =>
    LISTS.flatMap(([side, list]) => profile.config[list].map((entry) => ({ side, ...entry }))),
  );
  const models = entries.flatMap(({ side, type, params }) => {
    // Plugins load their models themselves.
    if (typeof type !== "string") return [];
    const { options: schema } = scannerClass(side, type);
    const options = parseOptions(schema, fromSnakeCase(schema, params ?? {}));
    const { modelMaxLength: maxLength } = options as { modelMaxLength?: number };
    return modelNames({ options }).map((name) => ({ name, maxLength }));
  });
  return [...new Map(models.map((model) => [JSON.stringify(model), model])).values()];
}
