// Writes what is made from the scanners' definitions and from the shapes of messages: types, indexes, documentation and schemas; and the
// manifests of the embedded models. With
// --check it writes nothing, and fails where a file on disk is not what it would write.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatted } from "./formatted.mjs";
import { whatIsRead } from "./what-is-read.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { generatedFiles } = await import("../dist/reference/generated-files.js");
const { manifests } = await import("../dist/reference/manifests.js");
const check = process.argv.includes("--check");

const stale = [];
function write(files) {
  for (const [path, wanted] of files) {
    const file = join(root, path);
    if (existsSync(file) && readFileSync(file, "utf8") === wanted) continue;
    stale.push(path);
    if (check) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, wanted);
  }
}
// The pages below are made from files of models, which are compared with the manifests.
write(manifests());
write(formatted(new Map([...generatedFiles(), whatIsRead()])));
for (const path of stale) console.log(`${check ? "stale" : "written"}: ${path}`);
if (check && stale.length > 0) {
  console.log("Run npm run generate, and commit what it writes.");
  process.exitCode = 1;
}
