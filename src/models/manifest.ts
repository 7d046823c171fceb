import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { addon, native } from "../native.ts";

/** The file with the sizes and hashes of a model's files. `crates/guard-core/src/model_folder.rs` verifies files against it. */
export const MANIFEST = "manifest.json";

/** Files that are not in the manifest: documentation, and the manifest itself. */
const UNLISTED = new Set([MANIFEST, "CARD.md", "README.md"]);

/** Creates the manifest of a model's folder: the size in bytes and the SHA-256 of each file, including weights shared with other models. */
export function createManifest(folder: string): string {
  const { guard } = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  const { external_data: shared, shared_layers: layers }: Record<string, unknown> = guard ?? {};
  const files = [
    ...filesIn(folder),
    ...(typeof shared === "string" ? filesIn(folder, shared) : []),
    ...(typeof layers === "string" ? [layers] : []),
  ];
  const lines = files.sort().map((file) => {
    const content = readFileSync(join(folder, file));
    const sha256 = createHash("sha256").update(content).digest("hex");
    return `    ${JSON.stringify(file)}: { "size": ${content.length}, "sha256": "${sha256}" }`;
  });
  return `{\n  "files": {\n${lines.join(",\n")}\n  }\n}\n`;
}

function filesIn(folder: string, place = ""): string[] {
  return readdirSync(join(folder, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !UNLISTED.has(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, place).length + 1))
    .map((file) => posix.join(place, file.split(sep).join(posix.sep)));
}

/**
 * Reads a text file of a model's folder and verifies it against the manifest. It returns undefined if there is no such file.
 *
 * @throws GuardError `GUARD_MODEL` if the file differs from the manifest or cannot be read.
 */
export function readModelFile(folder: string, file: string): string | undefined {
  return native(() => addon.readModelFile(folder, file)) ?? undefined;
}
