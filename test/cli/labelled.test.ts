import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { readLabelled } from "../../src/cli/eval/labelled.ts";

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

  it.each([
    ["semicolons", ";"],
    ["tabs", "\t"],
  ])("reads CSV with %s, and columns of other names", async (name, separator) => {
    const content = [
      ["Nachricht", "Urteil"],
      ['"a, b; c"', "fail"],
      ["hello", "pass"],
    ];
    const path = file(`${name}.csv`, content.map((cells) => cells.join(separator)).join("\n"));
    const rows = await readLabelled(path, "Regex", { text: "Nachricht", label: "Urteil" });
    expect(rows.map(({ text, label }) => [text, label])).toEqual([
      ["a, b; c", "fail"],
      ["hello", "pass"],
    ]);
  });

  it("reads CSV with a header", async () => {
    const content = [
      "\ufefftext,label,source,prompt",
      '"a, ""quoted"" text',
      'of two lines",pass,ours,',
      "",
      "Ärger im Büro,fail,,Was ist los?",
    ].join("\r\n");
    for (const path of [file("texts.csv", content), file("texts.csv.gz", gzipSync(content))]) {
      expect(await readLabelled(path, "Regex")).toEqual([
        {
          line: 3,
          text: 'a, "quoted" text\r\nof two lines',
          label: "pass",
          prompt: "",
          fields: { text: 'a, "quoted" text\r\nof two lines', label: "pass", source: "ours" },
        },
        expect.objectContaining({ text: "Ärger im Büro", label: "fail", prompt: "Was ist los?" }),
      ]);
    }
  });

  it.each([
    ["another number of fields", "text,label\na,pass\nsecret,fail,9\n", /, line 3: the number of fields differs/],
    [
      "a quote that does not end",
      'text,label\na,pass\n"secret,fail\nb,pass\n',
      /, line 3: a quoted field is not closed$/,
    ],
    ["text behind a quote", 'text,label\n"secret" x,pass\n', /, line 2: a quoted field must end with a comma/],
    ["a quote that ends late", 'text,label\n"a,pass\nb,"secret"\n', /, line 3: .*; the record begins in line 2$/],
    ["a column twice", "text,label,text\nsecret,pass,b\n", /, line 1: the column text occurs twice$/],
    [
      "another column for the text",
      "message,verdict\nsecret,pass\n",
      /, line 1: no column text; columns: message, verdict; name it with --text$/,
    ],
    [
      "another column for the label",
      "text,verdict\nsecret,pass\n",
      /, line 1: no column label; columns: text, verdict; name it with --label$/,
    ],
    ["no label", "text,label\na,pass\nb,\n", /, line 3: the column label is empty$/],
    ["no header", "", /has no rows$/],
    ["another encoding", Buffer.from([0x74, 0x65, 0x78, 0x74, 0x0a, 0xe4, 0x0a]), /, line 2: not UTF-8 text$/],
  ])("rejects CSV with %s, and quotes nothing of it", async (_what, content, message) => {
    const error = await readLabelled(file("bad.csv", content), "Regex").catch((error: Error) => error);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain("secret");
  });

  it("reads an empty text, in CSV and in JSON lines", async () => {
    for (const path of [file("void.csv", "text,label\n,pass\n"), file("void.jsonl", row(""))]) {
      expect(await readLabelled(path, "Regex")).toMatchObject([{ text: "", label: "pass" }]);
    }
  });

  it("separates the fields of a .tsv file by tabs only", async () => {
    const path = file("a.tsv", "text\tlabel,a,b,c\na, b\tpass\n");
    expect(await readLabelled(path, "Regex", { label: "label,a,b,c" })).toMatchObject([
      { text: "a, b", label: "pass" },
    ]);
  });

  it.each([
    [
      { prompt: "p", output: "o", label: 1 },
      "no field text; fields: prompt, output, label; name it with --text, such as --text output",
    ],
    [{ text: "a", verdict: 1 }, "no field label; fields: text, verdict; name it with --label"],
    [{ text: 5, label: 1 }, "text: expected a string"],
    [{ text: "a", label: null }, "label: expected a string, a number or a boolean"],
  ])("says what is missing in %j", async (value, message) => {
    const path = file("missing.jsonl", JSON.stringify(value));
    await expect(readLabelled(path, "Regex")).rejects.toThrow(new RegExp(`line 1: ${message}$`));
  });

  it("says how CSV is recognized", async () => {
    const path = file("texts.txt", "text,label\na,pass\n");
    await expect(readLabelled(path, "Regex")).rejects.toThrow(
      /line 1: not JSON; CSV is read from files .* \.csv or \.tsv$/,
    );
  });

  it("reports a missing file", async () => {
    await expect(readLabelled(join(folder, "nowhere.csv"), "Regex")).rejects.toThrow(/ENOENT/);
  });

  it("includes blank lines in the reported line number", async () => {
    const path = file("bad.jsonl", [row("a"), "", "nope"].join("\r\n"));
    await expect(readLabelled(path, "Regex")).rejects.toThrow(/line 3: not JSON$/);
  });
});
