import { join } from "node:path";
import { fileURLToPath } from "node:url";

// What is built of src/ lies in a few files directly in dist/, whatever folder of src/ it comes from. This file is where the two
// have the same depth: other files ask it, and do not go by their own place.

/** The folder of the package, with `package.json` in it. */
export const packageFolder = fileURLToPath(new URL("..", import.meta.url));

/** Where the files of the server's page are. They are served as they stand in the sources, and are copied when guard is built. */
export const pageFolder = new URL("./server/console/", import.meta.url);

/** The absolute path of a file or folder of the package, such as `models`. */
export function ownFile(path: string): string {
  return join(packageFolder, path);
}
