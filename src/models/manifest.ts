import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { addon, native } from "../native.ts";

/** The file of a model's folder that says what the other files are. `crates/guard-core/src/model_folder.rs` compares files with it. */
export const MANIFEST = "manifest.json";

/** Texts for people, and the manifest itself: they decide nothing. */
const UNLISTED = new Set([MANIFEST, "CARD.md", "README.md"]);

/**
 * The manifest of a model's folder as it is now: the size in bytes and the SHA-256 of each file, also of those that the model shares with
 * others.
 */
export function manifestOf(folder: string): string {
  const { guard } = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  const shared: unknown = guard?.external_data;
  const files = [...filesIn(folder), ...(typeof shared === "string" ? filesIn(folder, shared) : [])];
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
 * The content of a text file of a model's folder, compared with the manifest of the folder. Undefined where there is no such file.
 *
 * @throws GuardError `GUARD_MODEL` when the file differs from the manifest or cannot be read.
 */
export function readModelFile(folder: string, file: string): string | undefined {
  return native(() => addon.readModelFile(folder, file)) ?? undefined;
}
