// Writes the generated files: types, indexes, pages and schemas from the scanner definitions, the tables of docs/what-is-read.md, and the
// manifests of the embedded models. With --check it writes nothing, and fails if a file differs from what it would write.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatFiles } from "./format-files.mjs";
import { pageWithMessageTables } from "./message-tables.mjs";

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
// The pages read model files, which are checked against the manifests, so the manifests come first.
write(manifests());
write(formatFiles(new Map([...generatedFiles(), pageWithMessageTables()])));
for (const path of stale) console.log(`${check ? "stale" : "written"}: ${path}`);
if (check && stale.length > 0) {
  console.log("Run npm run generate, and commit the changes.");
  process.exitCode = 1;
}
