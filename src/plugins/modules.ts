import { readFile } from "node:fs/promises";
import { createRequire, isBuiltin } from "node:module";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isRecord } from "../support/is-record.ts";
import { searchedFolders } from "./packages.ts";

/** The name of a package, and the path of one of its modules behind it. */
const PACKAGE_PATH = /^((?:@[\w.~-]+\/)?[\w~-][\w.~-]*)(\/.+)?$/;

/** What an import path names: a file, or a module of a package. */
export type ModuleName = { file: string } | { package: string; subpath: string };

/**
 * Reads the part of an import path before `#`.
 *
 * @param from the folder that paths are relative to.
 * @returns undefined for anything but a path and a module of a package, such as a URL or a module of Node.js.
 */
export function moduleName(module: string, from: string): ModuleName | undefined {
  if (/^\.{1,2}[\\/]/.test(module) || isAbsolute(module)) return { file: resolve(from, module) };
  const [, name, path = ""] = PACKAGE_PATH.exec(module) ?? [];
  return name === undefined || isBuiltin(module) ? undefined : { package: name, subpath: `.${path}` };
}

/**
 * Finds the file of a module of a package, as Node.js does for an `import`: by the `exports` of its `package.json`.
 *
 * @returns the file, or what is wrong; undefined when the package is not installed.
 */
export async function packageFile(
  name: string,
  subpath: string,
  from: string,
): Promise<{ file: string } | { wrong: string } | undefined> {
  for (const modules of searchedFolders(from)) {
    const manifest = join(modules, name, "package.json");
    const text = await readFile(manifest, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    // Node.js has no function that resolves from another folder what `import` loads: its own one knows the condition `require` only.
    const target = importTarget(exportsOf(text), subpath);
    if (target !== undefined) return { file: join(dirname(manifest), target) };
    try {
      return { file: createRequire(join(dirname(modules), "_")).resolve(name + subpath.slice(1)) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ERR_PACKAGE_PATH_NOT_EXPORTED") return { wrong: `${manifest} does not export ${subpath}` };
      return { wrong: `there is no module ${subpath} in ${dirname(manifest)}` };
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

/** The conditions of `exports` that hold here, https://nodejs.org/api/packages.html#conditional-exports. */
const CONDITIONS = ["import", "node", "module-sync", "default"];

/** The target of a subpath in `exports`, without patterns. */
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
