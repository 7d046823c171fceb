import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** TypeScript, JSON and Markdown as they are formatted here, so that the linter has nothing to say about them; other files as they are. */
export function formatted(path, text) {
  if (!/\.(?:ts|json|md)$/.test(path)) return text;
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "check", "--write", `--stdin-file-path=${path}`];
  return execFileSync(process.execPath, args, { cwd: root, input: text, encoding: "utf8", maxBuffer: 2 ** 26 });
}
