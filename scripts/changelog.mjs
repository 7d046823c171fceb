// `node scripts/changelog.mjs VERSION` moves the entries of changes/ into a new section of CHANGELOG.md, dated today, and deletes their
// files. `--check` instead of VERSION only checks their form. changes/README.md describes the form.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The sections of Keep a Changelog in their order, and Performance, by the first word of an entry. */
const SECTIONS = {
  added: "Added",
  changed: "Changed",
  deprecated: "Deprecated",
  removed: "Removed",
  fixed: "Fixed",
  security: "Security",
  performance: "Performance",
};
const ENTRY = new RegExp(`^(${Object.keys(SECTIONS).join("|")}): (\\S.*)$`, "s");
/** Matches the start of the latest section. */
const FIRST_SECTION = /^## \[/m;

/**
 * Reads the entries of a file.
 *
 * @param {string} name the name of the file, for error messages
 * @param {string} text the content of the file
 * @returns {{ kind: string, text: string }[]}
 * @throws Error if the text has another form
 */
export function readEntries(name, text) {
  const paragraphs = text.trim().split(/\n\s*\n/);
  return paragraphs.map((paragraph) => {
    const [, kind, sentence] = ENTRY.exec(paragraph.trim()) ?? [];
    if (!kind) {
      const kinds = Object.keys(SECTIONS).join(", ");
      throw new Error(
        `changes/${name}: an entry must start with one of ${kinds}, a colon and a space: "${paragraph.slice(0, 60)}"`,
      );
    }
    if (!/[.!?`)]$/.test(sentence.trim())) throw new Error(`changes/${name}: an entry must end with a full stop`);
    return { kind, text: sentence.trim().replace(/\s*\n\s*/g, " ") };
  });
}

/**
 * Returns the changelog with a new first section.
 *
 * @param {string} changelog
 * @param {{ kind: string, text: string }[]} entries
 * @param {string} version
 * @param {string} date in ISO 8601, such as 2026-11-23
 */
export function withVersion(changelog, entries, version, date) {
  const lines = Object.entries(SECTIONS).flatMap(([kind, title]) => {
    const own = entries.filter((entry) => entry.kind === kind);
    return own.length === 0 ? [] : [`### ${title}`, "", ...own.map(({ text }) => `- ${text}`), ""];
  });
  const at = changelog.search(FIRST_SECTION);
  if (at < 0) throw new Error("CHANGELOG.md has no section for a version");
  return `${changelog.slice(0, at)}## [${version}] - ${date}\n\n${lines.join("\n")}\n${changelog.slice(at)}`;
}

/** Returns the sorted names of the files in changes/, without its README. */
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
