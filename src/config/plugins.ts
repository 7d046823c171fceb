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
import { described, inAnyCase } from "./environment.ts";
import { configSchema, profile } from "./schema.ts";

/** The lists of scanners by the names that they have in any case. */
const LISTS: ReadonlyMap<string, Side> = new Map([
  ["inputscanners", "input"],
  ["outputscanners", "output"],
]);

/**
 * Puts plugins into the places of a parsed file that name them. What is wrong with a plugin is added to `issues`, and its name stays
 * where it is.
 *
 * @param folder the folder of the file, which paths are relative to.
 */
export async function withPlugins(root: unknown, folder: string, issues: ValidationIssue[]): Promise<unknown> {
  if (!isRecord(root)) return root;
  const packages = Object.entries(root).find(([key]) => inAnyCase(key) === "plugins")?.[1];
  const listed = Array.isArray(packages) ? packages.filter((name) => typeof name === "string") : undefined;
  const places = new Places(new PluginLoader({ from: folder, packages: listed }), issues);
  await places.checkPackages(listed);
  return places.fillSections(configSchema, root, "");
}

/**
 * Puts plugins into a scanner that is named outside of a file, such as on a command line.
 *
 * @param folder the folder that paths are relative to.
 * @throws GuardValidationError with `type` or the path of the parameter at fault.
 */
export async function scannerWithPlugins(
  side: Side,
  named: { type: string; params: Record<string, unknown> },
  folder: string,
): Promise<{ type: string | DefinedScanner; params: Record<string, unknown> }> {
  const issues: ValidationIssue[] = [];
  const filled = await new Places(new PluginLoader({ from: folder }), issues).fillEntry(side, named, "");
  if (issues.length > 0) {
    throw new GuardValidationError(
      issues.map(({ path, message }) => ({ path: path.replace(/^\.(?:params\.)?/, ""), message })),
    );
  }
  return filled as Awaited<ReturnType<typeof scannerWithPlugins>>;
}

/** A plugin of a configuration. */
export interface ConfiguredPlugin extends PluginOrigin {
  /** Where the configuration has it: `input_scanners.0.type`. */
  path: string;
}

/**
 * The plugins of a configuration, in its order. What a program put into the configuration itself is not among them.
 */
export function pluginsOf(config: object): ConfiguredPlugin[] {
  const found: ConfiguredPlugin[] = [];
  // Programs may give objects of their own, which may refer to themselves.
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

/** Looks for the names of plugins in the values of a file, and loads them. */
class Places {
  readonly #loader: PluginLoader;
  readonly #issues: ValidationIssue[];

  constructor(loader: PluginLoader, issues: ValidationIssue[]) {
    this.#loader = loader;
    this.#issues = issues;
  }

  /** Checks the packages that the file lists, even when none of their names is used. */
  async checkPackages(listed: readonly string[] | undefined): Promise<void> {
    if (listed) await this.#attempt("", () => this.#loader.offers());
  }

  /** Fills the sections of a file or of a profile, whose lists of scanners have parameters of their own. */
  async fillSections(schema: z.ZodType, sections: Record<string, unknown>, prefix: string): Promise<unknown> {
    const filled = await inOrder(Object.entries(sections), async ([key, value]): Promise<[string, unknown]> => {
      const side = LISTS.get(inAnyCase(key));
      const path = prefix + toSnakeCase(key);
      if (side && Array.isArray(value)) {
        return [key, await inOrder(value, (entry, index) => this.fillEntry(side, entry, `${path}.${index}`))];
      }
      if (side) return [key, value];
      if (inAnyCase(key) !== "profiles" || !isRecord(value))
        return [key, await this.fill(fieldOf(schema, key), value, path)];
      const profiles = await inOrder(
        Object.entries(value),
        async ([name, settings]): Promise<[string, unknown]> => [
          name,
          isRecord(settings) ? await this.fillSections(profile, settings, `${path}.${name}.`) : settings,
        ],
      );
      return [key, Object.fromEntries(profiles)];
    });
    return Object.fromEntries(filled);
  }

  /** Fills an entry of a list of scanners: its type, and the parameters of a scanner of guard's own. */
  async fillEntry(side: Side, entry: unknown, path: string): Promise<unknown> {
    if (!isRecord(entry) || typeof entry.type !== "string") return entry;
    const { type, params } = entry;
    const own = scannerClasses(side).get(type);
    if (own)
      return { ...entry, ...("params" in entry && { params: await this.fill(own.options, params, `${path}.params`) }) };
    // Names with a capital letter are of scanners of guard's own: the check that follows knows more of those.
    if (!isImportPath(type) && !PLUGIN_NAME.test(type)) return entry;
    return { ...entry, type: await this.#load("scanner", type, `${path}.type`) };
  }

  /** Fills a value that a schema describes. */
  async fill(schema: z.ZodType | undefined, value: unknown, path: string): Promise<unknown> {
    if (!schema) return value;
    const kind = metaOf(schema, "plugin");
    if (typeof value === "string") {
      // The name of a model is no plugin unless it can be nothing else.
      const isOne = kind === "NER model" ? await this.#isPlugin(value, path) : kind !== undefined;
      return kind && isOne ? this.#load(kind, value, path) : value;
    }
    const inner = described(schema);
    const { element } = inner.def as { element?: z.ZodType };
    if (Array.isArray(value)) {
      // Of NER models one element is a name, and another one an object with a name in it.
      const schemaOf = (item: unknown) => (kind && typeof item === "string" ? schema : element);
      return inOrder(value, (item, index) => this.fill(schemaOf(item), item, `${path}.${index}`));
    }
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      await inOrder(Object.entries(value), async ([key, item]) => [
        key,
        await this.fill(fieldOf(element ?? inner, key), item, `${path}.${toSnakeCase(key)}`),
      ]),
    );
  }

  async #isPlugin(text: string, path: string): Promise<boolean> {
    if (isImportPath(text)) return true;
    return (await this.#attempt(path, () => this.#loader.names(text))) ?? false;
  }

  async #load(kind: PluginKind, reference: string, path: string): Promise<unknown> {
    return (await this.#attempt(path, () => this.#loader.load(kind, reference))) ?? reference;
  }

  /** Adds the issues of what fails to the list, at the place of the plugin unless the issue has a place of its own. */
  async #attempt<T>(path: string, make: () => Promise<T>): Promise<T | undefined> {
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof GuardValidationError)) throw error;
      this.#issues.push(...error.issues.map((issue) => ({ ...issue, path: issue.path || path })));
      return undefined;
    }
  }
}

/** The schema of a key of an object, in whatever case the key is written. */
function fieldOf(schema: z.ZodType, key: string): z.ZodType | undefined {
  const { shape = {} } = described(schema).def as { shape?: Record<string, z.ZodType> };
  return Object.entries(shape).find(([name]) => inAnyCase(name) === inAnyCase(key))?.[1];
}

/** Calls `work` with one item after the other: modules of plugins are loaded in the order of the file. */
async function inOrder<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) results.push(await work(item, index));
  return results;
}
