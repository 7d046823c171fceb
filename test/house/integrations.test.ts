import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../src/config/dialects.ts";
import { read, root } from "./markdown.ts";

const folders = readdirSync(join(root, "integrations"), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
/** The required sections of every page, in this order. */
const OUTLINE = ["Configuration", "What happens", "How it fails", "Tested with"];

const overview = read("docs/integrations.md");

describe("integrations", () => {
  it.each(folders)("%s has a page and a row in docs/integrations.md", (name) => {
    expect(existsSync(join(root, "integrations", name, "README.md"))).toBe(true);
    expect(overview).toContain(`](../integrations/${name}/README.md)`);
  });

  it.each(folders)("the page of %s has the required sections", (name) => {
    const sections = [...read(`integrations/${name}/README.md`).matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(sections.filter((title) => OUTLINE.includes(title as string))).toEqual(OUTLINE);
  });

  it.each(DIALECTS)("a page shows how to enable the dialect %s", (name) => {
    const shown = folders.map((folder) => read(`integrations/${folder}/README.md`)).join("\n");
    expect(shown).toMatch(new RegExp(`dialects: \\[.*\\b${name}\\b.*\\]`));
  });

  it("every SDK and framework that the package wraps has a folder", () => {
    const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, { default?: string }> };
    const wrapped = Object.entries(exports).flatMap(([path, { default: file = "" }]) =>
      file.startsWith("./dist/integrations/") ? [path.slice("./".length)] : [],
    );
    for (const name of wrapped) expect(folders).toContain(name);
    expect(wrapped.length).toBeGreaterThan(0);
  });
});
