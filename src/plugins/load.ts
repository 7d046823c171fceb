import { access, constants } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { scannerTypes } from "../scanners/catalog.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { GuardValidationError } from "../support/errors.ts";
import { PLUGIN_KINDS, type PluginKind } from "../support/plugin-kind.ts";
import { packageFile, parseModuleName } from "./modules.ts";
import { findPlugins, notInstalledMessage, type PackagePlugin, PLUGIN_NAME } from "./packages.ts";
import { messageOf, type Plugins, toPlugin } from "./plugins.ts";

export interface PluginSource {
  /** The folder that paths are relative to, and from which packages are searched. Default: the current folder. */
  from?: string;
  /** Packages whose plugins may be used by name: names of packages, or paths of their folders. Default: all installed packages. */
  packages?: readonly string[] | undefined;
}

/** The origin of a loaded plugin. */
export interface PluginOrigin {
  kind: PluginKind;
  /** The name or import path that it was loaded by. */
  reference: string;
  /** The file of its module. */
  file: string;
}

/** Origins of loaded plugins, which may be frozen. */
const origins = new WeakMap<object, PluginOrigin>();

/** Returns the origin of a plugin; undefined for other values. */
export function pluginOrigin(value: unknown): PluginOrigin | undefined {
  return typeof value === "function" || (typeof value === "object" && value !== null) ? origins.get(value) : undefined;
}

/** Returns whether a text is an import path, such as `./file.js#export` or `package#export`. */
export function isImportPath(text: string): boolean {
  return /^[^#]+#[^#]+$/.test(text);
}

/**
 * Loads a plugin: imports its module, and checks that its export is a plugin of the kind.
 *
 * @param reference an import path, `./file.js#export` or `package/module#export`, or the name of a plugin of an installed package, whose
 *   `package.json` has `"guard": { "plugins": { "name": "./file.js#export" } }`.
 * @throws GuardValidationError that says what was searched, and where. Its path is empty, `kind` for an unknown kind, or below `plugins`
 *   for an invalid package of `packages`.
 */
export async function loadPlugin<Kind extends PluginKind>(
  kind: Kind,
  reference: string,
  { from = ".", packages }: PluginSource = {},
): Promise<Plugins[Kind]> {
  if (!PLUGIN_KINDS.includes(kind)) {
    const message = `unknown kind${didYouMean(String(kind), PLUGIN_KINDS) || `; known are: ${PLUGIN_KINDS.join(", ")}`}`;
    throw new GuardValidationError([{ path: "kind", message }]);
  }
  return new PluginLoader({ from, packages }).load(kind, reference);
}

/** Loads the plugins of one configuration. It searches packages at most once, and only to look up a name. */
export class PluginLoader {
  readonly #from: string;
  readonly #packages: readonly string[] | undefined;
  #packagePlugins: Promise<readonly PackagePlugin[]> | undefined;

  constructor({ from = ".", packages }: PluginSource) {
    this.#from = resolve(from);
    this.#packages = packages;
  }

  /** Returns the plugins of packages. */
  packagePlugins(): Promise<readonly PackagePlugin[]> {
    this.#packagePlugins ??= findPlugins(this.#from, this.#packages);
    return this.#packagePlugins;
  }

  /** Returns whether a text is an import path, or the name of a plugin of a package. */
  async isReference(text: string): Promise<boolean> {
    if (isImportPath(text)) return true;
    return PLUGIN_NAME.test(text) && (await this.packagePlugins()).some(({ name }) => name === text);
  }

  /** See {@link loadPlugin}. */
  async load<Kind extends PluginKind>(kind: Kind, reference: string): Promise<Plugins[Kind]> {
    const { file, name } = isImportPath(reference)
      ? await this.#byPath(reference)
      : await this.#byName(reference, kind);
    await checkReadable(file);
    const exported = exportOf(await importModule(file), name, file);
    try {
      const plugin = toPlugin(kind, exported);
      origins.set(plugin, { kind, reference, file });
      return plugin;
    } catch (error) {
      if (!(error instanceof GuardValidationError)) throw error;
      throw invalid(`${name} of ${file} is no ${kind}: ${error.message}`, error);
    }
  }

  async #byPath(reference: string): Promise<{ file: string; name: string }> {
    const [module = "", name = ""] = reference.split("#");
    const found = parseModuleName(module, this.#from);
    if (!found) throw invalid("expected an import path such as ./file.js#export or package/module#export");
    if ("file" in found) return { file: found.file, name };
    const inPackage = await packageFile(found.package, found.subpath, this.#from);
    if (!inPackage) throw invalid(notInstalledMessage(found.package, this.#from));
    if ("error" in inPackage) throw invalid(inPackage.error);
    return { file: inPackage.file, name };
  }

  async #byName(reference: string, kind: PluginKind): Promise<{ file: string; name: string }> {
    if (!PLUGIN_NAME.test(reference)) {
      throw invalid(`expected a ${kind} as ./file.js#export, package#export or the name of a plugin of a package`);
    }
    const plugins = await this.packagePlugins();
    const found = plugins.filter(({ name }) => name === reference);
    if (found.length > 1) {
      const packages = found.map((plugin) => plugin.package).sort();
      throw invalid(
        `${packages.join(" and ")} both have a plugin ${reference}: list one of them under plugins, or use an import path`,
      );
    }
    const [plugin] = found;
    if (!plugin) {
      const names = [...new Set(plugins.map(({ name }) => name))].sort();
      const known = names.length > 0 ? `; known plugins: ${names.join(", ")}` : "";
      // It may be a misspelled built-in scanner.
      const hint = didYouMean(reference, kind === "scanner" ? [...names, ...builtInTypes()] : names) || known;
      const where = this.#packages ? "listed under plugins" : `installed beside ${this.#from} or beside guard`;
      throw invalid(`no package ${where} has a plugin ${reference}${hint}`);
    }
    const [module = "", name = ""] = plugin.target.split("#");
    return { file: join(plugin.folder, module), name };
  }
}

/** Checks that a file is readable. The message of `import` would name the importing file. */
async function checkReadable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw invalid(code === "ENOENT" ? `there is no file ${file}` : `cannot read ${file}: ${code ?? messageOf(error)}`);
  }
}

async function importModule(file: string): Promise<Record<string, unknown>> {
  try {
    return await import(/* @vite-ignore */ pathToFileURL(file).href);
  } catch (error) {
    throw invalid(`${file} could not be loaded: ${messageOf(error)}`, error);
  }
}

function builtInTypes(): string[] {
  return [...scannerTypes("input"), ...scannerTypes("output")];
}

function exportOf(module: Record<string, unknown>, name: string, file: string): unknown {
  if (Object.hasOwn(module, name)) return module[name];
  const names = Object.keys(module).sort();
  const known = names.length > 0 ? `; it exports: ${names.join(", ")}` : "; it exports nothing";
  throw invalid(`${file} has no export ${name}${didYouMean(name, names) || known}`);
}

function invalid(message: string, cause?: unknown): GuardValidationError {
  return new GuardValidationError([{ path: "", message }], { cause });
}
