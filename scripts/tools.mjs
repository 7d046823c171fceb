// Runs a tool of tools/: `node scripts/tools.mjs NAME ARGUMENTS`. Tools import the sources of guard, so they work without dist/.
import { basename, join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Directly in the root, because src/own-files.ts and src/native.ts find files of guard one folder above their own. */
const out = join(root, "dist-tools");

/**
 * Compiles a module of tools/ and imports it.
 *
 * @param name the path of the module in tools/, without `.ts`.
 */
export async function loadTool(name) {
  const bundle = await rolldown({
    cwd: root,
    platform: "node",
    // Not in a subfolder of `out`, see there.
    input: { [basename(name)]: `tools/${name}.ts` },
    external: /^[^./]/,
  });
  const { output } = await bundle.write({
    dir: out,
    format: "esm",
    keepNames: true,
    chunkFileNames: "[name]-[hash].js",
  });
  await bundle.close();
  return import(pathToFileURL(join(out, output[0].fileName)).href);
}

if (argv[1] === fileURLToPath(import.meta.url)) await loadTool("main");
