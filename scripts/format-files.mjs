import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Formats files as `npm run format` does.
 *
 * @param {Map<string, string>} files texts by their paths in the repository.
 * @returns {Map<string, string>} the formatted texts by the same paths.
 */
export function formatFiles(files) {
  const folder = mkdtempSync(join(tmpdir(), "guard-generate-"));
  try {
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
    // Biome runs once for all files, because most of its time is start-up.
    const args = ["check", "--write", "--vcs-enabled=false", `--config-path=${join(root, "biome.json")}`, "."];
    execFileSync(process.execPath, [biome, ...args], { cwd: folder, stdio: "pipe" });
    return new Map([...files.keys()].map((path) => [path, readFileSync(join(folder, path), "utf8")]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
