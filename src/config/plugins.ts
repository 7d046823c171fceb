import type { z } from "zod";
import { isImportPath, PluginLoader, type PluginOrigin, pluginOrigin } from "../plugins/load.ts";
import { PLUGIN_NAME } from "../plugins/packages.ts";
import type { Side } from "../scan/scanner.ts";
import { scannerClasses } from "../scanners/catalog.ts";
import { type DefinedScanner, isDefinedScanner } from "../scanners/definition.ts";
import { GuardValidationError, type ValidationIssue } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { metaOf, toSnakeCase } from "../support/options.ts";
import type { PluginKind } from "../support/plugin-kind.ts";
import { caselessKey, innerSchema } from "./environment.ts";
import { configSchema, profile } from "./schema.ts";

/** The lists of scanners by caseless key. */
const LISTS: ReadonlyMap<string, Side> = new Map([
  ["inputscanners", "input"],
  ["outputscanners", "output"],
]);

/**
 * Replaces the names of plugins in a parsed file by the plugins. Errors are added to `issues`, and their names stay unchanged.
 *
 * @param folder of the file, which paths are relative to.
 */
export async function withPlugins(root: unknown, folder: string, issues: ValidationIssue[]): Promise<unknown> {
  if (!isRecord(root)) return root;
  const packages = Object.entries(root).find(([key]) => caselessKey(key) === "plugins")?.[1];
  const listed = Array.isArray(packages) ? packages.filter((name) => typeof name === "string") : undefined;
  const resolver = new PluginResolver(new PluginLoader({ from: folder, packages: listed }), issues);
  await resolver.checkPackages(listed);
  return resolver.resolveSections(configSchema, root, "");
}

/**
 * Replaces the names of plugins in a scanner that is not in a file, such as one of a command line.
 *
 * @param folder that paths are relative to.
 * @throws GuardValidationError with `type` or the path of the invalid parameter.
 */
export async function scannerWithPlugins(
  side: Side,
  entry: { type: string; params: Record<string, unknown> },
  folder: string,
): Promise<{ type: string | DefinedScanner; params: Record<string, unknown> }> {
  const issues: ValidationIssue[] = [];
  const resolved = await new PluginResolver(new PluginLoader({ from: folder }), issues).resolveEntry(side, entry, "");
  if (issues.length > 0) {
    throw new GuardValidationError(
      issues.map(({ path, message }) => ({ path: path.replace(/^\.(?:params\.)?/, ""), message })),
    );
  }
  return resolved as Awaited<ReturnType<typeof scannerWithPlugins>>;
}

/** A plugin of a configuration. */
export interface ConfiguredPlugin extends PluginOrigin {
  /** Its path in the configuration: `input_scanners.0.type`. */
  path: string;
}

/** Returns the plugins of a configuration, in order, without objects that a program has put there. */
export function pluginsOf(config: object): ConfiguredPlugin[] {
  const found: ConfiguredPlugin[] = [];
  // Objects of programs may have cycles.
  const seen = new Set<object>();
  const visit = (value: unknown, path: string): void => {
    const origin = pluginOrigin(value);
    if (origin) found.push({ path, ...origin });
    if (origin || typeof value !== "object" || value === null || seen.has(value)) return;
    const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
    if (!isPlain || isDefinedScanner(value)) return;
    seen.add(value);
    for (const [key, item] of Object.entries(value)) {
      visit(item, path ? `${path}.${toSnakeCase(key)}` : toSnakeCase(key));
    }
  };
  visit(config, "");
  return found;
}

/** Replaces the names of plugins in a file by the loaded plugins. */
class PluginResolver {
  readonly #loader: PluginLoader;
  readonly #issues: ValidationIssue[];

  constructor(loader: PluginLoader, issues: ValidationIssue[]) {
    this.#loader = loader;
    this.#issues = issues;
  }

  /** Checks the packages that the file lists, even if none of their plugins is used. */
  async checkPackages(listed: readonly string[] | undefined): Promise<void> {
    if (listed) await this.#attempt("", () => this.#loader.packagePlugins());
  }

  /** Resolves the sections of a file or a profile. */
  async resolveSections(schema: z.ZodType, sections: Record<string, unknown>, prefix: string): Promise<unknown> {
    const resolved = await inOrder(Object.entries(sections), async ([key, value]): Promise<[string, unknown]> => {
      const side = LISTS.get(caselessKey(key));
      const path = prefix + toSnakeCase(key);
      if (side && Array.isArray(value)) {
        return [key, await inOrder(value, (entry, index) => this.resolveEntry(side, entry, `${path}.${index}`))];
      }
      if (side) return [key, value];
      if (caselessKey(key) !== "profiles" || !isRecord(value))
        return [key, await this.resolve(fieldOf(schema, key), value, path)];
      const profiles = await inOrder(
        Object.entries(value),
        async ([name, settings]): Promise<[string, unknown]> => [
          name,
          isRecord(settings) ? await this.resolveSections(profile, settings, `${path}.${name}.`) : settings,
        ],
      );
      return [key, Object.fromEntries(profiles)];
    });
    return Object.fromEntries(resolved);
  }

  /** Resolves an entry of a list of scanners: its type, or the parameters of a built-in scanner. */
  async resolveEntry(side: Side, entry: unknown, path: string): Promise<unknown> {
    if (!isRecord(entry) || typeof entry.type !== "string") return entry;
    const { type, params } = entry;
    const builtIn = scannerClasses(side).get(type);
    if (builtIn)
      return {
        ...entry,
        ...("params" in entry && { params: await this.resolve(builtIn.options, params, `${path}.params`) }),
      };
    // Names of built-in scanners start with a capital letter. The validation reports unknown ones.
    if (!isImportPath(type) && !PLUGIN_NAME.test(type)) return entry;
    return { ...entry, type: await this.#load("scanner", type, `${path}.type`) };
  }

  /** Resolves a value by its schema. */
  async resolve(schema: z.ZodType | undefined, value: unknown, path: string): Promise<unknown> {
    if (!schema) return value;
    const kind = metaOf(schema, "plugin");
    if (typeof value === "string") {
      // A NER model may be a model name, which is no plugin.
      const isPlugin = kind === "NER model" ? await this.#isPlugin(value, path) : kind !== undefined;
      return kind && isPlugin ? this.#load(kind, value, path) : value;
    }
    const inner = innerSchema(schema);
    const { element } = inner.def as { element?: z.ZodType };
    if (Array.isArray(value)) {
      // A list of NER models contains names and objects with names.
      const schemaOf = (item: unknown) => (kind && typeof item === "string" ? schema : element);
      return inOrder(value, (item, index) => this.resolve(schemaOf(item), item, `${path}.${index}`));
    }
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      await inOrder(Object.entries(value), async ([key, item]) => [
        key,
        await this.resolve(fieldOf(element ?? inner, key), item, `${path}.${toSnakeCase(key)}`),
      ]),
    );
  }

  async #isPlugin(text: string, path: string): Promise<boolean> {
    if (isImportPath(text)) return true;
    return (await this.#attempt(path, () => this.#loader.isReference(text))) ?? false;
  }

  async #load(kind: PluginKind, reference: string, path: string): Promise<unknown> {
    return (await this.#attempt(path, () => this.#loader.load(kind, reference))) ?? reference;
  }

  /** Collects the issues of an error, with the path of the plugin unless an issue has its own. */
  async #attempt<T>(path: string, load: () => Promise<T>): Promise<T | undefined> {
    try {
      return await load();
    } catch (error) {
      if (!(error instanceof GuardValidationError)) throw error;
      this.#issues.push(...error.issues.map((issue) => ({ ...issue, path: issue.path || path })));
      return undefined;
    }
  }
}

/** Returns the schema of a key of an object, in any case. */
function fieldOf(schema: z.ZodType, key: string): z.ZodType | undefined {
  const { shape = {} } = innerSchema(schema).def as { shape?: Record<string, z.ZodType> };
  return Object.entries(shape).find(([name]) => caselessKey(name) === caselessKey(key))?.[1];
}

/** Maps items one after the other, so that modules of plugins are loaded in the order of the file. */
async function inOrder<T, R>(items: readonly T[], map: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) results.push(await map(item, index));
  return results;
}
