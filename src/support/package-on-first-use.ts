import { createRequire } from "node:module";
import { onFirstUse } from "./on-first-use.ts";

const require = createRequire(import.meta.url);

/**
 * Loads a package of CommonJS when it is asked for the first time, without a promise: for packages that take milliseconds to load and
 * are not needed by every program that imports guard.
 *
 * @param name the package, or a file of it, as `require` takes it.
 */
export function packageOnFirstUse<Module>(name: string): () => Module {
  return onFirstUse(() => require(name) as Module);
}
