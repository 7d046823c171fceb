// Writes what is made from the scanners' definitions: types, indexes, documentation and schemas. With --check it writes nothing,
// and fails where a file on disk is not what it would write.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { generatedFiles } = await import("../dist/reference/generated-files.js");
const check = process.argv.includes("--check");

/** TypeScript and JSON as they are formatted here, so that the linter has nothing to say about them. */
function formatted(path, text) {
  if (!/\.(?:ts|json)$/.test(path)) return text;
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "check", "--write", `--stdin-file-path=${path}`];
  return execFileSync(process.execPath, args, { cwd: root, input: text, encoding: "utf8", maxBuffer: 2 ** 26 });
}

const stale = [];
for (const [path, text] of generatedFiles()) {
  const file = join(root, path);
  const wanted = formatted(path, text);
  if (existsSync(file) && readFileSync(file, "utf8") === wanted) continue;
  stale.push(path);
  if (check) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, wanted);
}
for (const path of stale) console.log(`${check ? "stale" : "written"}: ${path}`);
if (check && stale.length > 0) {
  console.log("Run npm run generate, and commit what it writes.");
  process.exitCode = 1;
}
