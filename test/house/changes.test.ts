import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { changeFiles, readEntries, withVersion } from "../../scripts/changelog.mjs";
import { read, root } from "./markdown.ts";

describe("changes/", () => {
  it.each(changeFiles(join(root, "changes")))("%s has valid entries", (name: string) => {
    expect(name).toMatch(/^[a-z0-9-]+\.md$/);
    expect(readEntries(name, read(`changes/${name}`)).length).toBeGreaterThan(0);
  });

  it("an entry may have several lines, and a file several entries", () => {
    expect(readEntries("a.md", "fixed: One\nline.\n\nadded: Another.\n")).toEqual([
      { kind: "fixed", text: "One line." },
      { kind: "added", text: "Another." },
    ]);
  });

  it.each(["A line without its kind.", "improved: No such kind.", "fixed:no space.", "fixed: no full stop", ""])(
    "rejects %j",
    (text) => {
      expect(() => readEntries("bad.md", text)).toThrow("changes/bad.md");
    },
  );
});

describe("a release", () => {
  const changelog = "# Changelog\n\nText.\n\n## [0.6.0] - 2026-11-21\n\nFirst.\n";

  it("adds a first section, with the kinds in the order of Keep a Changelog", () => {
    const entries = [
      { kind: "fixed", text: "B." },
      { kind: "added", text: "A." },
    ];
    expect(withVersion(changelog, entries, "0.7.0", "2026-12-01")).toBe(
      "# Changelog\n\nText.\n\n## [0.7.0] - 2026-12-01\n\n### Added\n\n- A.\n\n### Fixed\n\n- B.\n\n## [0.6.0] - 2026-11-21\n\nFirst.\n",
    );
  });
});
