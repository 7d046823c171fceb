import { readdir, readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import pLimit from "p-limit";
import { packageFolder } from "../own-files.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";

/** A plugin that a package offers under a name: an entry of `guard.plugins` in its `package.json`. */
export interface OfferedPlugin {
  name: string;
  /** The name of the package. */
  package: string;
  /** The module and its export as the package writes them: `./scanners.js#WordList`. */
  target: string;
  /** The folder of the package. */
  folder: string;
}

/**
 * A name that a package may offer a plugin under. It begins with a small letter, as no type of guard's own scanners does, so that no
 * later version of guard takes a name away.
 */
export const PLUGIN_NAME = /^[a-z][a-z0-9._-]{0,99}$/;

/** The name of a package of npm, https://docs.npmjs.com/cli/configuring-npm/package-json#name. */
const PACKAGE_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

/** How many files are read at the same time. */
const PARALLEL = 32;

/** The folders `node_modules` in which Node.js looks for a package, seen from a folder: its own, and those of the folders above. */
function moduleFolders(folder: string): string[] {
  const above = dirname(folder);
  const rest = above === folder ? [] : moduleFolders(above);
  return folder.endsWith("node_modules") ? rest : [join(folder, "node_modules"), ...rest];
}

/**
 * The folders `node_modules` in which plugins are looked for: those that Node.js looks in, seen from the folder of the configuration
 * and then from guard itself.
 */
export function searchedFolders(from: string): string[] {
  return [...new Set([...moduleFolders(resolve(from)), ...moduleFolders(resolve(packageFolder))])];
}

/** Reads the names that packages offer. Nothing of the packages is run. */
export async function offeredPlugins(
  from: string,
  packages: readonly string[] | undefined,
): Promise<readonly OfferedPlugin[]> {
  if (packages) return (await Promise.all(packages.map((name, index) => offersOf(from, name, index)))).flat();
  const folders = new Map<string, string>();
  for (const modules of searchedFolders(from)) {
    // As for Node.js, the nearest of two packages with one name counts.
    for (const name of await installedIn(modules)) if (!folders.has(name)) folders.set(name, join(modules, name));
  }
  const limit = pLimit(PARALLEL);
  const offers = [...folders].map(([name, folder]) =>
    limit(async () => {
      const text = await readFile(join(folder, "package.json"), "utf8").catch(() => "");
      // Few packages have the key, and parsing is slower than looking for it.
      return text.includes('"guard"') ? (offersIn(text, name, folder) ?? []) : [];
    }),
  );
  return (await Promise.all(offers)).flat();
}

/** The packages in a folder `node_modules`. */
async function installedIn(modules: string): Promise<string[]> {
  const names = async (folder: string) =>
    (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith("."));
  const found = (await names(modules)).map(async (name) =>
    name.startsWith("@") ? (await names(join(modules, name))).map((inner) => `${name}/${inner}`) : [name],
  );
  return (await Promise.all(found)).flat();
}

/**
 * What a package offers that the configuration lists.
 *
 * @throws GuardValidationError with its place in the list, when there is no such package or it offers nothing.
 */
async function offersOf(from: string, name: string, index: number): Promise<OfferedPlugin[]> {
  const bad = (message: string) => new GuardValidationError([{ path: `plugins.${index}`, message }]);
  const isPath = /^\.{1,2}(?:[\\/]|$)/.test(name) || isAbsolute(name);
  if (!isPath && !PACKAGE_NAME.test(name)) {
    throw bad(`expected the name of a package, or the folder of one, such as ./my-plugins`);
  }
  const folders = isPath ? [resolve(from, name)] : searchedFolders(from).map((modules) => join(modules, name));
  for (const folder of folders) {
    const text = await readFile(join(folder, "package.json"), "utf8").catch(() => undefined);
    if (text === undefined) continue;
    const offers = offersIn(text, name, folder);
    if (offers && offers.length > 0) return offers;
    throw bad(
      `${join(folder, "package.json")} offers no plugins: expected "guard": { "plugins": { "name": "./file.js#export" } }`,
    );
  }
  throw bad(isPath ? `there is no package.json in ${folders[0]}` : `${notInstalled(name, from)}`);
}

/** Says that a package is not installed, and where it was looked for. */
export function notInstalled(name: string, from: string): string {
  return `the package ${name} is not installed: it is in no node_modules of ${resolve(from)}, nor of a folder above it, nor beside guard`;
}

/**
 * The plugins in a `package.json`; undefined when its key `guard` is not of that form, which another program may have given it.
 *
 * @param name the name to use when the package has none.
 */
function offersIn(text: string, name: string, folder: string): OfferedPlugin[] | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const guard = isRecord(json) ? json.guard : undefined;
  const plugins = isRecord(guard) ? guard.plugins : undefined;
  if (!isRecord(plugins)) return undefined;
  const own = isRecord(json) && typeof json.name === "string" ? json.name : name;
  const offers = Object.entries(plugins).map(([key, target]) => ({
    name: key,
    package: own,
    target: String(target),
    folder,
  }));
  const isFine = offers.every((offer) => PLUGIN_NAME.test(offer.name) && /^\.\/[^#]+#[^#]+$/.test(offer.target));
  return isFine ? offers : undefined;
}
