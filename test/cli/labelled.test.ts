import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { readLabelled } from "../../src/cli/labelled.ts";

const folder = mkdtempSync(join(tmpdir(), "guard-labelled-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe("readLabelled", () => {
  const row = (text: string) => JSON.stringify({ text, label: "pass" });

  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
  ])("skips blank lines between rows that end in %s", async (name, end) => {
    const content = ["", row("a"), "", " \t", row("b"), "", ""].join(end);
    for (const path of [file(`${name}.jsonl`, content), file(`${name}.jsonl.gz`, gzipSync(content))]) {
      expect((await readLabelled(path, "Regex")).map(({ text }) => text)).toEqual(["a", "b"]);
    }
  });

  it("counts blank lines in the number of the line that is at fault", async () => {
    const path = file("bad.jsonl", [row("a"), "", "nope"].join("\r\n"));
    await expect(readLabelled(path, "Regex")).rejects.toThrow(/line 3: not JSON$/);
  });
});
