import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../src/config/dialects.ts";
import { read, root } from "./markdown.ts";

const folders = readdirSync(join(root, "integrations"), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
/** The page that lists all of them. */
const table = read("docs/integrations.md");

describe("integrations", () => {
  it.each(folders)("%s has a page, and a row in the table of all", (name) => {
    expect(existsSync(join(root, "integrations", name, "README.md"))).toBe(true);
    expect(table).toContain(`](../integrations/${name}/README.md)`);
  });

  it.each(DIALECTS)("a page shows how to turn the dialect %s on", (name) => {
    const shown = folders.map((folder) => read(`integrations/${folder}/README.md`)).join("\n");
    expect(shown).toMatch(new RegExp(`dialects: \\[.*\\b${name}\\b.*\\]`));
  });

  it("has a folder for each SDK and framework that the package wraps", () => {
    const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, { default?: string }> };
    const wrapped = Object.entries(exports).flatMap(([path, { default: file = "" }]) =>
      file.startsWith("./dist/integrations/") ? [path.slice("./".length)] : [],
    );
    for (const name of wrapped) expect(folders).toContain(name);
    expect(wrapped.length).toBeGreaterThan(0);
  });
});
