import { readdir, readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import pLimit from "p-limit";
import { packageFolder } from "../own-files.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";

/** A plugin of a package: an entry of `guard.plugins` in its `package.json`. */
export interface PackagePlugin {
  name: string;
  /** The name of the package. */
  package: string;
  /** Module and export: `./scanners.js#WordList`. */
  target: string;
  /** The folder of the package. */
  folder: string;
}

/** The name of a plugin. It starts with a lowercase letter, so that it cannot collide with a built-in scanner of a later version. */
export const PLUGIN_NAME = /^[a-z][a-z0-9._-]{0,99}$/;

/** The name of a package of npm, https://docs.npmjs.com/cli/configuring-npm/package-json#name. */
const PACKAGE_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

const MAX_OPEN_FILES = 32;

/** Returns the `node_modules` folders in which Node.js searches packages for a folder: its own, and those of its parents. */
function moduleFolders(folder: string): string[] {
  const above = dirname(folder);
  const rest = above === folder ? [] : moduleFolders(above);
  return folder.endsWith("node_modules") ? rest : [join(folder, "node_modules"), ...rest];
}

/** Returns the `node_modules` folders in which plugins are searched: first for the folder of the configuration, then for guard itself. */
export function searchFolders(from: string): string[] {
  return [...new Set([...moduleFolders(resolve(from)), ...moduleFolders(resolve(packageFolder))])];
}

/** Finds the plugins of packages, without running any code of them. */
export async function findPlugins(
  from: string,
  packages: readonly string[] | undefined,
): Promise<readonly PackagePlugin[]> {
  if (packages) return (await Promise.all(packages.map((name, index) => listedPlugins(from, name, index)))).flat();
  const folders = new Map<string, string>();
  for (const modules of searchFolders(from)) {
    // As in Node.js, the nearest of two packages with one name wins.
    for (const name of await installedIn(modules)) if (!folders.has(name)) folders.set(name, join(modules, name));
  }
  const limit = pLimit(MAX_OPEN_FILES);
  const plugins = [...folders].map(([name, folder]) =>
    limit(async () => {
      const text = await readFile(join(folder, "package.json"), "utf8").catch(() => "");
      // Few packages have the key, and parsing is slower than a search for it.
      return text.includes('"guard"') ? (pluginsIn(text, name, folder) ?? []) : [];
    }),
  );
  return (await Promise.all(plugins)).flat();
}

/** Returns the packages in a `node_modules` folder. */
async function installedIn(modules: string): Promise<string[]> {
  const names = async (folder: string) =>
    (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith("."));
  const found = (await names(modules)).map(async (name) =>
    name.startsWith("@") ? (await names(join(modules, name))).map((inner) => `${name}/${inner}`) : [name],
  );
  return (await Promise.all(found)).flat();
}

/**
 * Returns the plugins of a package that the configuration lists.
 *
 * @throws GuardValidationError with its index in the list, if there is no such package or it has no plugins.
 */
async function listedPlugins(from: string, name: string, index: number): Promise<PackagePlugin[]> {
  const invalid = (message: string) => new GuardValidationError([{ path: `plugins.${index}`, message }]);
  const isPath = /^\.{1,2}(?:[\\/]|$)/.test(name) || isAbsolute(name);
  if (!isPath && !PACKAGE_NAME.test(name)) {
    throw invalid(`expected the name of a package, or its folder, such as ./my-plugins`);
  }
  const folders = isPath ? [resolve(from, name)] : searchFolders(from).map((modules) => join(modules, name));
  for (const folder of folders) {
    const text = await readFile(join(folder, "package.json"), "utf8").catch(() => undefined);
    if (text === undefined) continue;
    const plugins = pluginsIn(text, name, folder);
    if (plugins && plugins.length > 0) return plugins;
    throw invalid(
      `${join(folder, "package.json")} has no plugins: expected "guard": { "plugins": { "name": "./file.js#export" } }`,
    );
  }
  throw invalid(isPath ? `there is no package.json in ${folders[0]}` : notInstalledMessage(name, from));
}

export function notInstalledMessage(name: string, from: string): string {
  return `the package ${name} is not installed: it is in no node_modules folder of ${resolve(from)} or its parents, nor beside guard`;
}

/**
 * Returns the plugins in a `package.json`; undefined if its key `guard` has another form, which may belong to another program.
 *
 * @param name of the package, if its `package.json` has none.
 */
function pluginsIn(text: string, name: string, folder: string): PackagePlugin[] | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const guard = isRecord(json) ? json.guard : undefined;
  const plugins = isRecord(guard) ? guard.plugins : undefined;
  if (!isRecord(plugins)) return undefined;
  const packageName = isRecord(json) && typeof json.name === "string" ? json.name : name;
  const found = Object.entries(plugins).map(([key, target]) => ({
    name: key,
    package: packageName,
    target: String(target),
    folder,
  }));
  const isValid = found.every(({ name, target }) => PLUGIN_NAME.test(name) && /^\.\/[^#]+#[^#]+$/.test(target));
  return isValid ? found : undefined;
}
