import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ownFile } from "../../src/own-files.ts";

/**
 * Formats files as `npm run format` does.
 *
 * @param files texts by their paths in the repository.
 */
export function formatFiles(files: ReadonlyMap<string, string>): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "guard-generate-"));
  try {
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const biome = ownFile("node_modules/@biomejs/biome/bin/biome");
    // One run for all files: most of its time is its start.
    const args = ["check", "--write", "--vcs-enabled=false", `--config-path=${ownFile("biome.json")}`, "."];
    execFileSync(process.execPath, [biome, ...args], { cwd: folder, stdio: "pipe" });
    return new Map([...files.keys()].map((path) => [path, readFileSync(join(folder, path), "utf8")]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
