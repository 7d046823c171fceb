import { join } from "node:path";
import { fileURLToPath } from "node:url";

// The bundler puts all code of src/ directly into dist/. Only files at the root of src/ have the same depth in both, so other files must not
// use paths relative to themselves.

/** The folder of the package, with `package.json` in it. */
export const packageFolder = fileURLToPath(new URL("..", import.meta.url));

/** The folder of the console. Its files are served unchanged, and the build copies them. */
export const pageFolder = new URL("./server/console/", import.meta.url);

/** Returns the absolute path of a file or folder of the package, such as `models`. */
export function ownFile(path: string): string {
  return join(packageFolder, path);
}
