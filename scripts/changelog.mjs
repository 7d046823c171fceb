// node scripts/changelog.mjs VERSION: moves the entries of changes/ into CHANGELOG.md, as a section for VERSION of today, and deletes
// their files. `--check` in place of VERSION only checks their form. changes/README.md describes it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The sections of Keep a Changelog, in its order, by the word with which an entry begins. */
const SECTIONS = {
  added: "Added",
  changed: "Changed",
  deprecated: "Deprecated",
  removed: "Removed",
  fixed: "Fixed",
  security: "Security",
};
const ENTRY = new RegExp(`^(${Object.keys(SECTIONS).join("|")}): (\\S.*)$`, "s");
/** The latest section of the changelog begins here. */
const FIRST_SECTION = /^## \[/m;

/**
 * The entries of one file.
 *
 * @param {string} name the file, for errors
 * @param {string} text its content
 * @returns {{ kind: string, text: string }[]}
 * @throws Error for a text that is not made of entries
 */
export function readEntries(name, text) {
  const paragraphs = text.trim().split(/\n\s*\n/);
  return paragraphs.map((paragraph) => {
    const [, kind, sentence] = ENTRY.exec(paragraph.trim()) ?? [];
    if (!kind) {
      const kinds = Object.keys(SECTIONS).join(", ");
      throw new Error(
        `changes/${name}: an entry begins with one of ${kinds}, a colon and a space: "${paragraph.slice(0, 60)}"`,
      );
    }
    if (!/[.!?`)]$/.test(sentence.trim())) throw new Error(`changes/${name}: end the sentence with a full stop`);
    return { kind, text: sentence.trim().replace(/\s*\n\s*/g, " ") };
  });
}

/**
 * The changelog with a section for a version in front of the others.
 *
 * @param {string} changelog
 * @param {{ kind: string, text: string }[]} entries
 * @param {string} version
 * @param {string} date in the form of ISO 8601, such as 2026-11-23
 */
export function withVersion(changelog, entries, version, date) {
  const lines = Object.entries(SECTIONS).flatMap(([kind, title]) => {
    const own = entries.filter((entry) => entry.kind === kind);
    return own.length === 0 ? [] : [`### ${title}`, "", ...own.map(({ text }) => `- ${text}`), ""];
  });
  const at = changelog.search(FIRST_SECTION);
  if (at < 0) throw new Error("CHANGELOG.md has no section of a version");
  return `${changelog.slice(0, at)}## [${version}] - ${date}\n\n${lines.join("\n")}\n${changelog.slice(at)}`;
}

/** The files of changes/ but for its README, in order. */
export function changeFiles(folder) {
  return readdirSync(folder)
    .filter((name) => name !== "README.md")
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const folder = join(root, "changes");
  const [version] = process.argv.slice(2);
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$|^--check$/.test(version ?? "")) {
    console.error("Usage: node scripts/changelog.mjs VERSION | --check");
    process.exit(2);
  }
  const files = changeFiles(folder);
  const entries = files.flatMap((name) => readEntries(name, readFileSync(join(folder, name), "utf8")));
  if (version === "--check") console.log(`${entries.length} entries in ${files.length} files`);
  else {
    const path = join(root, "CHANGELOG.md");
    const today = new Date().toISOString().slice(0, 10);
    writeFileSync(path, withVersion(readFileSync(path, "utf8"), entries, version, today));
    for (const name of files) rmSync(join(folder, name));
  }
}
