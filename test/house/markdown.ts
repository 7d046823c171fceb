import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Folders with generated or foreign files. */
const SKIPPED = new Set(["node_modules", "target", "dist", "native", "npm", "bench-results", "coverage", ".git"]);

/** Lists all Markdown files of the repository, as paths relative to its root, with slashes. */
export function markdownFiles(folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !SKIPPED.has(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return markdownFiles(path);
      return entry.name.endsWith(".md") ? [relative(root, path).replaceAll("\\", "/")] : [];
    })
    .sort();
}

export function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** A fenced code block: its language, the words after the language, and its content. */
export interface Fence {
  readonly language: string;
  readonly words: readonly string[];
  readonly content: string;
}

/** Returns the fenced code blocks of a Markdown text. */
export function fences(text: string): Fence[] {
  return [...text.matchAll(/^```(\S*)([^\n]*)\n(.*?)^```$/gms)].map(([, language = "", words = "", content = ""]) => ({
    language,
    words: words.trim().split(/\s+/).filter(Boolean),
    content,
  }));
}

/** Returns the anchors that GitHub generates for headings: "Over HTTP" becomes `over-http`. */
export function anchors(text: string): string[] {
  const prose = text.replace(/^```.*?^```$/gms, "");
  return [...prose.matchAll(/^#{1,6} +(.+)$/gm)].map(([, title = ""]) =>
    title
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-"),
  );
}

/** The folder of generated pages. `npm run generate -- --check` verifies that they exist. */
const GENERATED = "docs/scanners";

/**
 * Returns the links of a Markdown file that have no target in the repository. It does not check links to other sites, nor to pages that have not
 * been generated yet.
 */
export function brokenLinks(path: string): string[] {
  const text = read(path);
  const prose = text.replace(/^```.*?^```$/gms, "").replace(/`[^`\n]*`/g, "");
  const targets = [...prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => {
    if (/^(?:https?:|mailto:)/.test(target)) return false;
    const [file = "", anchor] = target.split("#");
    const found = file === "" ? path : relative(root, join(root, path, "..", decodeURIComponent(file)));
    if (found.replaceAll("\\", "/").startsWith(GENERATED) && !existsSync(join(root, GENERATED))) return false;
    if (!existsSync(join(root, found))) return true;
    return anchor !== undefined && !anchors(read(found)).includes(anchor);
  });
}
