import { createRequire } from "node:module";
import { lazy } from "./lazy.ts";

const require = createRequire(import.meta.url);

/**
 * Returns a function that loads a CommonJS package synchronously on its first call. Use it for packages that take milliseconds to load
 * and that not every program needs.
 *
 * @param name the package, or a file of it, as `require` takes it.
 */
export function lazyPackage<Module>(name: string): () => Module {
  return lazy(() => require(name) as Module);
}
