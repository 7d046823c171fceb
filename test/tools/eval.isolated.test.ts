import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const tools = fileURLToPath(new URL("../../scripts/tools.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guard-tools-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function evaluate(args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [tools, "eval", ...args], { cwd: folder }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return name;
}

const animals = [
  { text: "a zebra", label: "animal", kind: "short" },
  { text: "two zebras in a field", label: "animal", kind: "long" },
  { text: "a lion", label: "animal", kind: "short" },
  { text: "a zebra crossing", label: "street", kind: "long" },
  { text: "a road", label: "street", kind: "short" },
];
file("animals.jsonl", animals.map((row) => `${JSON.stringify(row)}\n`).join(""));
const tokens = (text: string, count: number) => Array.from({ length: count }, (_, index) => `${text} ${index}`);
/** Gibberish and clean texts in two languages, with the labels that need no option to name them. */
const texts = [
  ...tokens("sdkfjh wqeoiruy zxmcnbv lkjasdf", 5).map((text) => ({ text, label: true, source: "noise", lang: "" })),
  ...tokens("Please send me the invoice of order number", 60).map((text) => ({
    text,
    label: false,
    source: "mails",
    lang: "en",
  })),
  ...tokens("Bitte schicken Sie mir die Rechnung zur Bestellung Nummer", 60).map((text) => ({
    text,
    label: false,
    source: "mails",
    lang: "de",
  })),
];
file("texts.jsonl", texts.map((row) => `${JSON.stringify(row)}\n`).join(""));

describe("eval --svg", () => {
  it("draws the ROC curve and the reliability diagram", async () => {
    const { code } = await evaluate(["texts.jsonl", "--scanner", "Gibberish", "--svg", "plots"]);
    expect(code).toBe(0);
    expect(readdirSync(join(folder, "plots")).sort()).toEqual([
      "gibberish-input.reliability.svg",
      "gibberish-input.roc.svg",
    ]);
    for (const name of ["roc", "reliability"]) {
      const plot = readFileSync(join(folder, "plots", `gibberish-input.${name}.svg`), "utf8");
      expect(plot).toMatch(/^<svg [^>]*role="img" aria-labelledby="title desc"/);
      expect(plot).toMatch(/<title id="title">[^<]*Gibberish \(input\)<\/title>\n<desc id="desc">[^<]*(5|125) texts/);
      expect(plot).toContain("@media (prefers-color-scheme: dark)");
      expect(plot).toMatch(/class="curve" d="M[\d.,ML]+"/);
      expect(plot).not.toContain("NaN");
    }
    // A reliability diagram needs probabilities, so a scanner without them has none.
    await evaluate([
      ...["animals.jsonl", "--scanner", "BanSubstrings", "--params", '{"substrings": ["zebra"]}'],
      ...["--positive", "animal", "--svg", "rules"],
    ]);
    expect(readdirSync(join(folder, "rules"))).toEqual(["bansubstrings-input.roc.svg"]);
  });
});

describe("eval --write-cards", () => {
  const model = join(folder, "model");
  const card = join(model, "CARD.md");
  cpSync(fileURLToPath(new URL("../../models/gibberish", import.meta.url)), model, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(model, "config.json"), "utf8")).guard;
  // A manifest would list the evaluation, which is yet to be written.
  for (const file of ["evaluation.json", "manifest.json"]) rmSync(join(model, file), { force: true });
  const cards = file(
    "cards.yml",
    `evaluations:
  - { scanner: Gibberish, params: { model: ${model} }, file: texts.jsonl, negatives: ["false"], curve: { lang: [en] } }
  - { scanner: Gibberish, side: output, params: { model: ${model} }, file: texts.jsonl, negatives: ["false"] }
`,
  );
  const write = (...more: string[]) => evaluate(["--suite", cards, "--data", folder, "--write-cards", ...more]);

  it("writes the curve and the tables beside the model, and scanners read thresholds from it", async () => {
    writeFileSync(card, "# Card\n\n<!-- eval -->\noutdated\n<!-- /eval -->\n\n## Limits\n");
    const { code, stderr } = await write();
    expect([code, stderr]).toEqual([0, `wrote ${card}\nwrote ${join(model, "evaluation.json")}\n`]);
    const text = readFileSync(card, "utf8");
    expect(text).toMatch(
      /^# Card\n\n<!-- eval -->\nOf version \d+\.\d+\.\d+, measured on \d{4}-\d\d-\d\d [\s\S]*<!-- \/eval -->\n\n## Limits\n$/,
    );
    expect(text).not.toContain("outdated");
    expect(text).toMatch(
      /### Gibberish \(input\)[\s\S]*\| source \| rows \|[\s\S]*\| noise \| 5 \| 5 \|[\s\S]*### Gibberish \(output\)/,
    );
    expect(text).toMatch(/### Thresholds of Gibberish by false positives\n\nOn 60 harmless texts of mails/);
    const { model: identity, date, curves } = JSON.parse(readFileSync(join(model, "evaluation.json"), "utf8"));
    expect(identity).toEqual({ name: "gibberish", version, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(curves).toMatchObject([
      { scanner: "Gibberish", rows: 60, sources: { mails: 60 }, settings: { matchType: "full" } },
    ]);
    expect(curves[0].points[0]).toEqual([0, expect.any(Number)]);

    // At a rate of one half, some harmless texts fail. At the default threshold none of them fails.
    const { stdout } = await evaluate([
      ...["texts.jsonl", "--scanner", "Gibberish", "--json"],
      ...["--params", JSON.stringify({ model, threshold: { fpr: 0.5 } }), "--by", "lang"],
    ]);
    const [{ by }] = JSON.parse(stdout);
    expect(by.lang.en.falsePositives).toBeGreaterThan(0);
    expect(by.lang.en.falsePositives).toBeLessThanOrEqual(0.5);
  });

  it("measures all figures of a card, whatever the arguments", async () => {
    writeFileSync(card, "<!-- eval --><!-- /eval -->");
    const { stdout } = await write("--only", "Gibberish", "--json");
    expect(JSON.parse(stdout)).toHaveLength(2);
  });

  it("shows only groups of at least ten texts if there are many groups", async () => {
    writeFileSync(card, "<!-- eval --><!-- /eval -->");
    const row = (text: string, group: string) => `${JSON.stringify({ text, label: "false", group })}\n`;
    const few = Array.from({ length: 41 }, (_, at) => row(`The train leaves at ${at} past nine.`, `few-${at}`));
    const many = Array.from({ length: 10 }, (_, at) => row(`We met ${at} old friends at the lake.`, "many"));
    file("groups.jsonl", [...few, ...many].join(""));
    const one = `{ scanner: Gibberish, params: { model: ${model} }, file: groups.jsonl, negatives: ["false"], by: group }`;
    file("groups.yml", `evaluations: [${one}]`);
    const { stdout } = await evaluate(["--suite", "groups.yml", "--data", folder, "--write-cards"]);
    expect(stdout).toContain("few-40");
    const text = readFileSync(card, "utf8");
    expect(text).toContain("| many | 10 |");
    expect(text).toContain("| all | 51 |");
    expect(text).toContain("41 groups of fewer than 10 texts are not shown, but count in the last row.");
    expect(text).not.toContain("few-");
  });

  it("writes the spans that a NER model finds", async () => {
    const names = join(folder, "names");
    cpSync(fileURLToPath(new URL("../fixtures/names", import.meta.url)), names, { recursive: true });
    const config = JSON.parse(readFileSync(join(names, "config.json"), "utf8"));
    writeFileSync(
      join(names, "config.json"),
      JSON.stringify({ ...config, guard: { name: "names", version: "1.0.0" } }),
    );
    writeFileSync(join(names, "CARD.md"), "<!-- eval --><!-- /eval -->");
    const people = [
      { text: "Ivan Petrov, Moscow", spans: [[0, 11, "PERSON"]], lang: "en" },
      { text: "Lisbon", spans: [[0, 6, "LOCATION"]], lang: "en" },
    ];
    file("people.jsonl", people.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const of = (conf: string) =>
      `{ scanner: Anonymize, params: { recognizer_conf: ${conf}, entity_types: all }, file: people.jsonl, spans: ALL }`;
    file("names.yml", `evaluations: [${of(names)}, ${of("[]")}]`);
    const { code, stderr } = await evaluate(["--suite", "names.yml", "--data", folder, "--write-cards"]);
    // Without a curve no thresholds can be derived.
    expect([code, stderr]).toEqual([0, `wrote ${join(names, "CARD.md")}\n`]);
    const text = readFileSync(join(names, "CARD.md"), "utf8");
    expect(text).toMatch(/\| lang \| rows \| spans \| found \| precision \| recall \| f1 \|/);
    expect(text).toContain("| all | 2 | 2 | 3 | 66.67 | 100.00 | 80.00 |");
    expect(text.match(/###/g)).toHaveLength(1);
  });

  it("requires a suite", async () => {
    const { code, stderr } = await evaluate(["animals.jsonl", "--scanner", "Regex", "--write-cards"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--write-cards belongs to --suite")]);
  });

  it("rejects a card without a place for the tables", async () => {
    writeFileSync(card, "# Card\n");
    rmSync(join(model, "evaluation.json"));
    const { code, stderr } = await write();
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/CARD\.md has no lines <!-- eval --> and <!-- \/eval -->/),
    ]);
    expect(existsSync(join(model, "evaluation.json"))).toBe(false);
  });
});
