// `node scripts/compare-builds.mjs` checks that release builds are reproducible: it builds the platform package in two folders and compares the
// SHA-256 hashes of the tarballs. Each of the two builds takes minutes.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildAddon } from "./addon.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "guard-builds-"));

/** Builds HEAD in a new folder, and returns the names and hashes of its tarballs. */
function build(name) {
  const folder = join(scratch, name);
  execFileSync("git", ["clone", "--quiet", root, folder]);
  // Both builds share the installed packages, which are no part of the addon.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  buildAddon(folder, "release");
  execFileSync(process.execPath, ["scripts/pack.mjs", "platform"], { cwd: folder, stdio: ["ignore", 2, 2] });
  const tarballs = readdirSync(join(folder, "npm")).filter((file) => file.endsWith(".tgz"));
  return tarballs.map((file) => {
    const digest = createHash("sha256")
      .update(readFileSync(join(folder, "npm", file)))
      .digest("hex");
    return `${digest}  ${file}`;
  });
}

try {
  const [first, second] = ["first", "second-folder"].map(build);
  console.log([...first, ...second].join("\n"));
  const isSame = first.length > 0 && first.join() === second.join();
  console.log(isSame ? "The builds are equal." : "The builds differ.");
  process.exitCode = isSame ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true });
}
