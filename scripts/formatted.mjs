import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Files as they are formatted here, so that the linter has nothing to say about them.
 *
 * @param {Map<string, string>} files texts by their paths in the repository.
 * @returns {Map<string, string>} the same paths with the formatted texts.
 */
export function formatted(files) {
  const folder = mkdtempSync(join(tmpdir(), "guard-generate-"));
  try {
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
    // One run for all of them: most of the time of a run is its start.
    const args = ["check", "--write", "--vcs-enabled=false", `--config-path=${join(root, "biome.json")}`, "."];
    execFileSync(process.execPath, [biome, ...args], { cwd: folder, stdio: "pipe" });
    return new Map([...files.keys()].map((path) => [path, readFileSync(join(folder, path), "utf8")]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
