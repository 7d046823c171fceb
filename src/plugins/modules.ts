import { readFile } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isRecord } from "../support/is-record.ts";
import { searchFolders } from "./packages.ts";

/** The name of a package, and the optional path of a module. */
const PACKAGE_PATH = /^((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(\/.+)?$/;

/** The module of an import path: a file, or a module of a package. */
export type ModuleName = { file: string } | { package: string; subpath: string };

/**
 * Parses the part of an import path before `#`.
 *
 * @param from the folder that paths are relative to.
 * @returns undefined for a URL, a module of Node.js, and other texts.
 */
export function parseModuleName(module: string, from: string): ModuleName | undefined {
  if (/^\.{1,2}[\\/]/.test(module) || isAbsolute(module)) return { file: resolve(from, module) };
  const [, name, path = ""] = PACKAGE_PATH.exec(module) ?? [];
  return name === undefined || isBuiltin(module) ? undefined : { package: name, subpath: `.${path}` };
}

/**
 * Resolves a module of a package like an `import` in Node.js, by the `exports` of its `package.json`.
 *
 * @returns the file, or an error message; undefined if the package is not installed.
 */
export async function packageFile(
  name: string,
  subpath: string,
  from: string,
): Promise<{ file: string } | { error: string } | undefined> {
  for (const modules of searchFolders(from)) {
    const manifest = join(modules, name, "package.json");
    const text = await readFile(manifest, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    // Node.js cannot resolve an `import` from another folder: `require.resolve` uses the condition `require` only.
    const target = importTarget(exportsOf(text), subpath);
    if (target !== undefined) return { file: join(dirname(manifest), target) };
    try {
      return { file: createRequire(join(dirname(modules), "_")).resolve(name + subpath.slice(1)) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ERR_PACKAGE_PATH_NOT_EXPORTED") return { error: `${manifest} does not export ${subpath}` };
      return { error: `there is no module ${subpath} in ${dirname(manifest)}` };
    }
  }
  return undefined;
}

function exportsOf(manifest: string): unknown {
  try {
    return JSON.parse(manifest).exports;
  } catch {
    return undefined;
  }
}

/** The active conditions of `exports`, https://nodejs.org/api/packages.html#conditional-exports. */
const CONDITIONS = ["import", "node", "module-sync", "default"];

/** Returns the target of a subpath in `exports`. Patterns are not supported. */
function importTarget(exports: unknown, subpath: string): string | undefined {
  if (typeof exports === "string") return subpath === "." ? exports : undefined;
  if (!isRecord(exports)) return undefined;
  const keys = Object.keys(exports);
  if (keys.some((key) => key.startsWith("."))) return importTarget(exports[subpath], ".");
  for (const key of keys) {
    const target = CONDITIONS.includes(key) ? importTarget(exports[key], subpath) : undefined;
    if (target !== undefined) return target;
  }
  return undefined;
}
