// Builds the platform package of this machine twice, in two folders with different names, and compares the SHA-256 of the tarballs:
// `node scripts/compare-builds.mjs`. It takes two builds for release, which are minutes each, and leaves nothing behind.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildAddon } from "./addon.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "guard-builds-"));

/** The names of the tarballs that a build makes, with their hashes. What is built is the commit, without changes that are not committed. */
function build(name) {
  const folder = join(scratch, name);
  execFileSync("git", ["clone", "--quiet", root, folder]);
  // What is installed is the same for both, and no part of the addon.
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
  const [first, second] = ["one", "another-place"].map(build);
  console.log([...first, ...second].join("\n"));
  const isSame = first.length > 0 && first.join() === second.join();
  console.log(isSame ? "The builds are equal." : "The builds differ.");
  process.exitCode = isSame ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true });
}
