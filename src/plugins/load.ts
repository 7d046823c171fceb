import { access, constants } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { scannerTypes } from "../scanners/catalog.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";
import type { PluginKind } from "../support/plugin-kind.ts";
import { moduleName, packageFile } from "./modules.ts";
import { notInstalled, type OfferedPlugin, offeredPlugins, PLUGIN_NAME } from "./packages.ts";
import { asPlugin, messageOf, type Plugins } from "./plugins.ts";

/** Where plugins come from. */
export interface PluginSource {
  /** The folder that paths are relative to, and from which packages are looked for. The default is the current folder. */
  from?: string;
  /**
   * The packages whose names may be used: names of packages, or paths of their folders. By default all installed packages offer
   * theirs.
   */
  packages?: readonly string[] | undefined;
}

/** Where a loaded plugin came from. */
export interface PluginOrigin {
  kind: PluginKind;
  /** The name or the import path that it was loaded by. */
  reference: string;
  /** The file of its module. */
  file: string;
}

/** Where each loaded plugin came from. Plugins are functions and objects of others, so nothing can be written on them. */
const origins = new WeakMap<object, PluginOrigin>();

/** Tells where a plugin came from; undefined for what no plugin is. */
export function pluginOrigin(value: unknown): PluginOrigin | undefined {
  return typeof value === "function" || (typeof value === "object" && value !== null) ? origins.get(value) : undefined;
}

/** Tells whether a text can only be an import path, such as `./file.js#export` or `package#export`. */
export function isImportPath(text: string): boolean {
  return /^[^#]+#[^#]+$/.test(text);
}

/**
 * Loads a plugin: imports its module, and checks that its export is a plugin of the kind.
 *
 * @param reference an import path, `./file.js#export` or `package/module#export`, or a name that an installed package offers under
 *   the key `"guard": { "plugins": { "name": "./file.js#export" } }` of its `package.json`.
 * @throws GuardValidationError that says what was looked for, and where. Its path is empty, or one below `plugins` when a package that
 *   `packages` lists is at fault.
 */
export function loadPlugin<Kind extends PluginKind>(
  kind: Kind,
  reference: string,
  { from = ".", packages }: PluginSource = {},
): Promise<Plugins[Kind]> {
  return new PluginLoader({ from, packages }).load(kind, reference);
}

/** Loads the plugins of one configuration. What packages offer is read at most once, and only when a name has to be looked up. */
export class PluginLoader {
  readonly #from: string;
  readonly #packages: readonly string[] | undefined;
  #offers: Promise<readonly OfferedPlugin[]> | undefined;

  constructor({ from = ".", packages }: PluginSource) {
    this.#from = resolve(from);
    this.#packages = packages;
  }

  /** The plugins that packages offer by name. */
  offers(): Promise<readonly OfferedPlugin[]> {
    this.#offers ??= offeredPlugins(this.#from, this.#packages);
    return this.#offers;
  }

  /** Tells whether a text names a plugin: an import path does, and a name that a package offers. */
  async names(text: string): Promise<boolean> {
    return isImportPath(text) || (PLUGIN_NAME.test(text) && (await this.offers()).some(({ name }) => name === text));
  }

  /** Does what {@link loadPlugin} does. */
  async load<Kind extends PluginKind>(kind: Kind, reference: string): Promise<Plugins[Kind]> {
    const { file, name } = isImportPath(reference)
      ? await this.#byPath(reference)
      : await this.#byName(reference, kind);
    await checkReadable(file);
    const exported = exportOf(await imported(file), name, file);
    try {
      const plugin = asPlugin(kind, exported);
      origins.set(plugin, { kind, reference, file });
      return plugin;
    } catch (error) {
      if (!(error instanceof GuardValidationError)) throw error;
      throw bad(`${name} of ${file} is no ${kind}: ${error.message}`, error);
    }
  }

  async #byPath(reference: string): Promise<{ file: string; name: string }> {
    const [module = "", name = ""] = reference.split("#");
    const found = moduleName(module, this.#from);
    if (!found) throw bad("expected an import path such as ./file.js#export or package/module#export");
    if ("file" in found) return { file: found.file, name };
    const inPackage = await packageFile(found.package, found.subpath, this.#from);
    if (!inPackage) throw bad(notInstalled(found.package, this.#from));
    if ("wrong" in inPackage) throw bad(inPackage.wrong);
    return { file: inPackage.file, name };
  }

  async #byName(reference: string, kind: PluginKind): Promise<{ file: string; name: string }> {
    if (!PLUGIN_NAME.test(reference)) {
      throw bad(`expected a ${kind} as ./file.js#export, package#export or a name that a package offers`);
    }
    const offers = await this.offers();
    const found = offers.filter(({ name }) => name === reference);
    if (found.length > 1) {
      const packages = found.map((offer) => offer.package).sort();
      throw bad(
        `${packages.join(" and ")} both offer a plugin ${reference}: name one of them under plugins, or write an import path`,
      );
    }
    const [offer] = found;
    if (!offer) {
      const names = [...new Set(offers.map(({ name }) => name))].sort();
      const known = names.length > 0 ? `; offered are: ${names.join(", ")}` : "";
      // A scanner of guard may have been meant.
      const meant = didYouMean(reference, kind === "scanner" ? [...names, ...allTypes()] : names) || known;
      const where = this.#packages ? "listed under plugins" : `installed beside ${this.#from} or beside guard`;
      throw bad(`no package ${where} offers a plugin ${reference}${meant}`);
    }
    const [module = "", name = ""] = offer.target.split("#");
    return { file: join(offer.folder, module), name };
  }
}

/** Checks that a file is there: the message of `import` would name the file that imports it. */
async function checkReadable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw bad(code === "ENOENT" ? `there is no file ${file}` : `cannot read ${file}: ${code ?? messageOf(error)}`);
  }
}

async function imported(file: string): Promise<Record<string, unknown>> {
  try {
    return await import(/* @vite-ignore */ pathToFileURL(file).href);
  } catch (error) {
    throw bad(`${file} could not be loaded: ${messageOf(error)}`, error);
  }
}

function allTypes(): string[] {
  return [...scannerTypes("input"), ...scannerTypes("output")];
}

function exportOf(module: Record<string, unknown>, name: string, file: string): unknown {
  if (Object.hasOwn(module, name)) return module[name];
  const names = Object.keys(module).sort();
  const known = names.length > 0 ? `; it exports: ${names.join(", ")}` : "; it exports nothing";
  throw bad(`${file} has no export ${name}${didYouMean(name, names) || known}`);
}

function bad(message: string, cause?: unknown): GuardValidationError {
  return new GuardValidationError([{ path: "", message }], { cause });
}
