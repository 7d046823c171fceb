import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guard-eval-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function guard(
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [cli, "eval", ...args],
      { cwd: folder, env: { ...process.env, GUARD_EVAL_DATA: "", ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

function file(name: string, content: string | Buffer): string {
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
file("animals.jsonl.gz", gzipSync(`${JSON.stringify(animals[0])}\n\n${JSON.stringify(animals[4])}`));

const suite = file(
  "suite.yml",
  `make: python make.py
evaluations:
  - name: Zebras
    scanner: BanSubstrings
    params: { substrings: [zebra], match_type: word }
    file: animals.jsonl
    positives: [animal]
    by: kind
  - { scanner: BanSubstrings, side: output, params: { substrings: [zebra] }, file: animals.jsonl.gz, negatives: [street] }
  - { scanner: Regex, params: { patterns: [animal, road] }, file: animals.jsonl, otherwise: street }
  - { scanner: Regex, params: { patterns: ALL, is_blocked: true }, file: animals.jsonl, otherwise: street }
`,
);

describe("guard-scan eval", () => {
  it("measures scanners on labelled texts", async () => {
    const { code, stdout } = await guard(["--suite", suite, "--data", ".", "--json"]);
    expect(code).toBe(0);
    const results = JSON.parse(stdout);
    expect(results).toHaveLength(4);
    // The first of the three animals is found, and the first of the two streets.
    expect(results[0]).toMatchObject({
      name: "Zebras",
      side: "input",
      file: "animals.jsonl",
      all: {
        rows: 5,
        positives: 3,
        accuracy: 2 / 5,
        precision: 1 / 2,
        recall: 1 / 3,
        f1: 2 / 5,
        falsePositives: 1 / 2,
      },
      by: { kind: { short: { rows: 3, positives: 2, accuracy: 2 / 3 }, long: { rows: 2, accuracy: 0 } } },
    });
    expect(results[0].textsPerSecond).toBeGreaterThan(0);
    expect(results[1]).toMatchObject({ side: "output", all: { rows: 2, accuracy: 1, auc: 1, falsePositives: 0 } });
    // No text matches the pattern for animals. "a road" matches the other pattern, which is not a label.
    expect(results[2]).toMatchObject({ all: { rows: 5, accuracy: 1 / 5 } });
    expect(results[3]).toMatchObject({ all: { rows: 5, accuracy: 2 / 5 } });
  });

  it("prints a table of the requested evaluations", async () => {
    const { code, stdout } = await guard(["--suite", suite, "--only", "Zebras"], { GUARD_EVAL_DATA: folder });
    expect(code).toBe(0);
    const [head, titles, ...rows] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^Zebras \(input\), animals\.jsonl: \d+ texts\/s$/);
    expect(titles).toMatch(/^KIND +ROWS +POSITIVE +ACCURACY +PRECISION +RECALL +F1 +FPR +AUC/);
    expect(rows.map((row) => row.split(/ +/)[0])).toEqual(["long", "short", "all"]);
    expect(rows[2]).toMatch(/^all +5 +3 +40\.00 +50\.00 +33\.33 +40\.00 +50\.00/);
  });

  it.each([
    [[], /give a file of labelled texts and --scanner or --config, or --suite/],
    [["animals.jsonl"], /--scanner is missing/],
    [["nowhere.jsonl.gz", "--scanner", "Regex", "--params", '{"patterns": ["a"]}'], /ENOENT.*nowhere\.jsonl\.gz/],
    [["animals.jsonl", "--scanner", "Regex", "--data", "."], /--data belongs to --suite/],
    [["animals.jsonl", "--scanner", "Regex", "--side", "left"], /--side: expected input or output, got left/],
    [["animals.jsonl", "--scanner", "Regex", "--positive", "a", "--negative", "b"], /give one of/],
    [
      ["animals.jsonl", "--scanner", "Regex", "--params", '{"patterns": ["a"]}'],
      /the label "animal" is ambiguous: name labels with --positive or --negative/,
    ],
    [
      ["animals.jsonl", "--scanner", "Regex", "--params", '{"patterns": ["a"]}', "--positive", "anmal"],
      /no text has the label "anmal"; labels are: animal, street/,
    ],
    [["animals.jsonl", "--scanner", "Language", "--otherwise", "steet"], /no text has the label "steet"; labels are/],
    [
      ["animals.jsonl", "--scanner", "Language", "--positive", "animal", "--by", "nosuch"],
      /no text has the field nosuch; fields are: text, label, kind/,
    ],
    [["-", "--scanner", "Regex", "--scanner", "Language"], /standard input is read once/],
    ...["--failures", "--junit", "--out"].map((option): [string[], RegExp] => [
      // The file of texts is missing too, so the folder is checked first.
      ["nowhere.jsonl", "--scanner", "Language", option, "none/a.csv"],
      new RegExp(`${option}: there is no folder none`),
    ]),
    [["animals.jsonl", "--scanner", "Nothing", "--positive", "animal"], /unknown input scanner Nothing/],
    [["animals.jsonl", "--suite", "suite.yml"], /a suite names its files/],
    [["--suite", "suite.yml", "--by", "kind"], /--by does not go with --suite/],
    [["--suite", "nothing.yml", "--data", "."], /nothing\.yml/],
    [["--suite", suite, "--data", ".", "--only", "Lions"], /has no evaluation Lions/],
    [
      ["--suite", suite, "--data", "/nowhere"],
      /\/nowhere has no animals\.jsonl, animals\.jsonl\.gz\n.*python make\.py/,
    ],
  ])("rejects %j", async (args, message) => {
    const { code, stderr } = await guard(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it("finds the files of a suite in its folder", async () => {
    const { code, stdout } = await guard(["--suite", join(folder, suite), "--only", "Zebras"]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Zebras \(input\)/)]);
  });

  it("measures each of several scanners with its own parameters", async () => {
    const { code, stdout } = await guard([
      ...["animals.jsonl", "--positive", "animal", "--json"],
      ...["--scanner", "BanSubstrings", "--params", '{"substrings": ["lion"]}'],
      ...["--scanner", "Regex", "--params", '{"patterns": ["zebra|lion"]}'],
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: "BanSubstrings", all: { recall: 1 / 3 } },
      { name: "Regex", all: { recall: 1 } },
    ]);
  });

  describe("--config", () => {
    const zoo = file(
      "zoo.yml",
      `input_scanners:
  - { type: BanSubstrings, params: { substrings: [zebra] } }
  - { type: Regex, name: Lions, params: { patterns: [lion, crossing] } }
output_scanners:
  - { type: BanSubstrings, params: { substrings: [road] } }
`,
    );

    it("measures the verdicts of a configuration and of each scanner", async () => {
      const { code, stdout } = await guard(["animals.jsonl", "--config", zoo, "--positive", "animal", "--json"]);
      expect(code).toBe(0);
      const [{ all, by, config, side }] = JSON.parse(stdout);
      expect([config, side]).toEqual([zoo, "input"]);
      expect(all).toEqual({
        ...{ rows: 5, positives: 3, accuracy: 4 / 5, precision: 3 / 4, recall: 1, f1: 6 / 7, falsePositives: 1 / 2 },
      });
      expect(by.scanner).toMatchObject({
        BanSubstrings: { rows: 5, recall: 2 / 3, falsePositives: 1 / 2 },
        Lions: { rows: 5, recall: 1 / 3, falsePositives: 1 / 2 },
      });
    });

    it("counts for a scanner only the texts that it read", async () => {
      const fast = file("fast.yml", `app: { scan_fail_fast: true }\n${readFileSync(join(folder, zoo), "utf8")}`);
      const { stdout } = await guard(["animals.jsonl", "--config", fast, "--positive", "animal", "--json"]);
      expect(JSON.parse(stdout)[0].by.scanner).toMatchObject({ BanSubstrings: { rows: 5 }, Lions: { rows: 2 } });
    });

    it("judges outputs, groups them, and writes the wrong verdicts", async () => {
      const { code, stdout } = await guard([
        ...["animals.jsonl", "--config", zoo, "--side", "output", "--positive", "street", "--by", "kind"],
        ...["--failures", "zoo-wrong.jsonl"],
      ]);
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /^zoo\.yml \(output\), animals\.jsonl: \d+ texts\/s\nSCANNER .*\nBanSubstrings +5 .*\nall +5 /,
      );
      expect(stdout).toMatch(/\nKIND .*\nlong +2 .*\nshort +3 .*\nall +5 /);
      const wrong = readFileSync(join(folder, "zoo-wrong.jsonl"), "utf8");
      expect(JSON.parse(wrong)).toMatchObject({ evaluation: zoo, row: 4, kind: "false_negative" });
    });

    it.each([
      [["animals.jsonl", "--scanner", "Regex"], /--scanner does not go with --config/],
      [["animals.jsonl", "--suite", "suite.yml"], /--suite does not go with --config/],
      [["animals.jsonl", "--otherwise", "animal"], /--otherwise does not go with --config/],
      [["animals.jsonl", "--side", "left"], /--side: expected input or output, got left/],
      [["animals.jsonl"], /the label "animal" is ambiguous/],
      [[], /give a file of labelled texts/],
    ])("rejects %j", async (args, message) => {
      const { code, stderr } = await guard([...args, "--config", zoo]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    });
  });

  it("writes the id and the line of a text with a wrong verdict", async () => {
    file("ids.jsonl", '\n{"text": "a lion", "label": "animal", "id": "x7"}\n');
    const regex = ["--scanner", "Regex", "--params", '{"patterns": ["zebra"]}', "--positive", "animal"];
    await guard(["ids.jsonl", ...regex, "--failures", "ids-wrong.jsonl", "--junit", "ids.xml"]);
    const [wrong, junit] = ["ids-wrong.jsonl", "ids.xml"].map((name) => readFileSync(join(folder, name), "utf8"));
    expect(JSON.parse(wrong as string)).toMatchObject({ row: 1, line: 2, id: "x7" });
    expect(junit).toContain('name="ids.jsonl, row 1, line 2, id x7"');
  });

  it("writes the texts with wrong verdicts as CSV, JSON lines and HTML, and a JUnit report", async () => {
    const labels = [
      "--scanner",
      "BanSubstrings",
      "--params",
      '{"substrings":["zebra"],"match_type":"word"}',
      "--positive",
    ];
    for (const end of ["csv", "jsonl", "html"]) {
      const written = await guard([
        "animals.jsonl",
        ...labels,
        "animal",
        "--failures",
        `wrong.${end}`,
        "--junit",
        "junit.xml",
      ]);
      expect([written.code, written.stderr]).toEqual([0, ""]);
    }
    const read = (name: string) => readFileSync(join(folder, name), "utf8");
    const [first, ...others] = read("wrong.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({ evaluation: "BanSubstrings", file: "animals.jsonl", row: 2, kind: "false_negative" });
    expect(first).toMatchObject({ expected: "fail", got: "pass", text: "two zebras in a field" });
    expect(others.map(({ row, kind }) => [row, kind])).toEqual([
      [3, "false_negative"],
      [4, "false_positive"],
    ]);
    expect(read("wrong.csv").split("\r\n")[1]).toMatch(
      /^BanSubstrings,animals\.jsonl,2,2,,false_negative,fail,pass,-?\d+,/,
    );
    expect(read("wrong.html")).toContain("<td>two zebras in a field</td>");
    expect(read("junit.xml")).toContain('<testsuite name="BanSubstrings" tests="5" failures="3" errors="0">');
    expect(read("junit.xml")).toContain('message="expected fail, got pass">two zebras in a field</failure>');
    const odd = { text: '<b> "& \u0001\ud800', label: "animal" };
    file("odd.jsonl", `${JSON.stringify(odd)}\n`);
    await guard(["odd.jsonl", ...labels, "animal", "--failures", "odd.html", "--junit", "odd.xml"]);
    for (const name of ["odd.html", "odd.xml"]) expect(read(name)).toContain("&lt;b&gt; &quot;&amp; \ufffd\ufffd");
    expect(await guard(["animals.jsonl", ...labels, "animal", "--failures", "wrong.txt"])).toMatchObject({ code: 2 });
  });

  it.each(["nope.csv", "nope.jsonl", "nope.csv.gz"])("names a missing file without a stack: %s", async (name) => {
    const { code, stderr } = await guard([name, "--scanner", "Toxicity"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^guard: ENOENT: no such file or directory, open '.*'\n$/),
    ]);
  });

  it("names the error in a suite or a file", async () => {
    const wrong = async (evaluation: string) => {
      const name = file("wrong.yml", `evaluations: [${evaluation}]`);
      return (await guard(["--suite", name, "--data", "."])).stderr;
    };
    expect(await wrong("{ scanner: Regex, file: animals.jsonl }")).toMatch(/expected one of: positives, negatives/);
    expect(await wrong("{ scanner: Regex, file: animals.jsonl, positives: [a], colour: red }")).toMatch(/colour/);
    expect(await wrong("{ scanner: Nothing, file: animals.jsonl, positives: [animal] }")).toMatch(
      /unknown input scanner/,
    );
    file("bad.jsonl", '{"text": "a", "label": "b"}\n{"text": 5}\n');
    expect(await wrong("{ scanner: Regex, file: bad.jsonl, positives: [a] }")).toMatch(
      /bad\.jsonl, line 2: text: expected a string/,
    );
    file("empty.jsonl", "");
    expect(await wrong("{ scanner: Regex, file: empty.jsonl, positives: [a] }")).toMatch(/empty\.jsonl has no rows/);
  });

  // A misspelt value would reverse every verdict.
  it.each(["positives", "negatives"])(
    "rejects a suite with a label among its %s that is missing in its file",
    async (list) => {
      const name = file(
        "labels.yml",
        `evaluations: [{ scanner: Regex, params: { patterns: [a] }, file: animals.jsonl, ${list}: [animal, steet] }]`,
      );
      expect(await guard(["--suite", name, "--data", "."])).toEqual({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/animals\.jsonl: no text has the label "steet"; labels are: animal, street\n/),
      });
    },
  );
});

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

describe("guard-scan eval FILE", () => {
  it("measures any scanner, by the given fields", async () => {
    const out = join(folder, "figures.json");
    const { code, stdout, stderr } = await guard([
      ...["texts.jsonl", "--scanner", "Gibberish", "--side", "output"],
      ...["--by", "source", "--by", "lang", "--out", out],
    ]);
    expect([code, stderr]).toEqual([0, ""]);
    const [result] = JSON.parse(readFileSync(out, "utf8"));
    expect(result).toMatchObject({
      name: "Gibberish",
      side: "output",
      file: "texts.jsonl",
      all: { rows: 125, positives: 5, recall: 1, falsePositives: 0, precision: 1, f1: 1, auc: 1, recallAt1In100: 1 },
      by: { source: { mails: { rows: 120 }, noise: { rows: 5, recall: 1, auc: 1 } }, lang: { de: {}, en: {} } },
    });
    // 120 harmless texts cannot measure a rate of one in 1,000.
    expect(result.all).not.toHaveProperty("recallAt1In1000");
    expect(result.all.ece).toBeGreaterThan(0);
    expect(result.all.ece).toBeLessThan(0.1);
    expect(stdout).toMatch(
      /^SOURCE .*\nmails +120 +0 .*\nnoise +5 +5 .*\nall +125 +5 .*\n\nLANG .*\nde +60 .*\nen +60 /m,
    );
  });

  it("groups by source by default, and reads other field names", async () => {
    file("other.jsonl", '{"q": "a zebra", "wild": 1, "set": "zoo"}\n{"q": "a road", "wild": 0, "set": "town"}\n');
    const { stdout } = await guard([
      ...["other.jsonl", "--text", "q", "--label", "wild", "--json"],
      ...["--scanner", "BanSubstrings", "--params", '{"substrings": ["zebra"]}'],
    ]);
    const [{ all, by }] = JSON.parse(stdout);
    expect(all).toEqual({
      ...{ rows: 2, positives: 1, accuracy: 1, precision: 1, recall: 1, f1: 1, falsePositives: 0, auc: 1 },
    });
    expect(Object.keys(by.set)).toEqual(["town", "zoo"]);
  });

  it("compares labels", async () => {
    const { stdout } = await guard([
      ...["animals.jsonl", "--scanner", "Regex", "--otherwise", "street", "--json"],
      ...["--params", '{"patterns": ["ALL"]}'],
    ]);
    // No text matches the pattern ALL, because everything is taken for a street.
    expect(JSON.parse(stdout)[0].all).toEqual({ rows: 5, accuracy: 2 / 5 });
  });

  it.each([["the sky"], { text: "the sky" }, 5, null])("rejects %j as a prompt", async (prompt) => {
    const rows = [
      { text: "a", label: 0, prompt: "b" },
      { text: "a", label: 0, prompt },
    ];
    file("prompts.jsonl", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const regex = ["--scanner", "Regex", "--params", '{"patterns": ["a"]}', "--side", "output"];
    const { code, stderr } = await guard(["prompts.jsonl", ...regex]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/prompts\.jsonl, line 2: prompt: expected a string\n/)]);
  });

  // Each of these scanners passes an output without a prompt, which would count as a correct verdict.
  it.each(["FactualConsistency", "LanguageSame", "Relevance"])("requires prompts for %s", async (scanner) => {
    const rows = [
      { text: "The sky is blue.", label: 0, prompt: "What colour is the sky?" },
      { text: "Il fait beau.", label: 1 },
    ];
    file("prompts.jsonl", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const { code, stderr } = await guard(["prompts.jsonl", "--scanner", scanner]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`prompts.jsonl, line 2: no prompt, which ${scanner} needs\n`),
    ]);
  });

  it("requires no prompts for scanners that read none", async () => {
    file("prompts.jsonl", '{"text": "a", "label": 1, "prompt": ""}\n{"text": "b", "label": 0}\n');
    const regex = ["--scanner", "Regex", "--params", '{"patterns": ["a"]}', "--side", "output"];
    const { stdout } = await guard(["prompts.jsonl", ...regex, "--json"]);
    expect(JSON.parse(stdout)[0].all).toMatchObject({ rows: 2, accuracy: 1 });
  });

  const spansFile = file(
    "spans.jsonl",
    [
      // Offsets count code points: the emoji is one.
      {
        text: "😀 ann@example.org, 8.8.8.80",
        spans: [
          [2, 17, "EMAIL_ADDRESS"],
          [19, 27, "IP_ADDRESS"],
        ],
        lang: "en",
        set: "one",
      },
      {
        text: "bob@example.org",
        spans: [
          [0, 3, "PERSON"],
          [0, 3, "PERSON"],
        ],
        lang: "en",
        set: "two",
      },
      { text: "Письмо на eva@example.org", spans: [[10, 24, "EMAIL_ADDRESS"]], lang: "ru", set: "two" },
      { text: "nothing", spans: [], lang: "en", set: "one" },
    ]
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(""),
  );
  const anonymize = ["--scanner", "Anonymize", "--params", '{"recognizer_conf": []}'];

  it("compares spans, by type", async () => {
    const { code, stdout } = await guard([spansFile, ...anonymize, "--spans", "ALL", "--json"]);
    expect(code).toBe(0);
    const [{ all, by }] = JSON.parse(stdout);
    // Two of four spans are found, and one of the four occurs twice. One address is too short, and names are not requested.
    const one = { rows: 4, spans: 1 };
    expect(all).toEqual({
      ...{ rows: 4, spans: 4, found: 4, precision: 1 / 2, recall: 1 / 2, f1: 1 / 2 },
      types: {
        EMAIL_ADDRESS: { rows: 4, spans: 2, found: 3, precision: 1 / 3, recall: 1 / 2, f1: 2 / 5 },
        IP_ADDRESS: { ...one, found: 1, precision: 1, recall: 1, f1: 1 },
        PERSON: { ...one, found: 0, recall: 0, f1: 0 },
      },
    });
    expect(by).toMatchObject({
      set: { one: { rows: 2, f1: 1 }, two: { rows: 2, f1: 0 } },
      lang: { en: { spans: 3, found: 3 }, ru: { spans: 1, found: 1, f1: 0 } },
    });
  });

  it("counts the requested types only", async () => {
    const spans = file(
      "spans.yml",
      `evaluations:
  - { scanner: Anonymize, params: { recognizer_conf: [] }, file: spans.jsonl, spans: [IP_ADDRESS, PERSON], by: lang }
`,
    );
    const { stdout } = await guard(["--suite", spans, "--data", "."]);
    expect(stdout.split("\n").slice(1, -2)).toEqual([
      "LANG            ROWS  SPANS  FOUND  PRECISION  RECALL      F1",
      "en                 3      2      1     100.00   50.00   66.67",
      "en IP_ADDRESS      3      1      1     100.00  100.00  100.00",
      "en PERSON          3      1      0               0.00    0.00",
      "ru                 1      0      0",
      "all                4      2      1     100.00   50.00   66.67",
      "all IP_ADDRESS     4      1      1     100.00  100.00  100.00",
      "all PERSON         4      1      0               0.00    0.00",
    ]);
  });

  it.each([[[[0, 8, "X"]]], [[[2, 2, "X"]]], [[[0, 1]]], [[[0, 1.5, "X"]]], [{ start: 0 }], [undefined]])(
    "rejects invalid spans: %j",
    async (spans) => {
      const name = file("no-spans.jsonl", `${JSON.stringify({ text: "nothing", spans })}\n`);
      const { code, stderr } = await guard([name, ...anonymize, "--spans", "ALL"]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/line 1: spans: expected a list of \[START, END, TYPE\]/),
      ]);
    },
  );

  it("rejects types that no span has", async () => {
    const { code, stderr } = await guard([spansFile, ...anonymize, "--spans", "PERSON,IP_ADDRESS"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /no text has a span of the type PERSON,IP_ADDRESS; types are: EMAIL_ADDRESS, IP_ADDRESS, PERSON/,
      ),
    ]);
  });
});
