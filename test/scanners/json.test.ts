import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JSONScanner } from "../../src/scanners/generated/output-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import { scanned } from "../support/rewritten.ts";

const scan = (text: string, options: ConstructorParameters<typeof JSONScanner>[0] = {}) =>
  scanned(new JSONScanner(options), text);

describe("JSON", () => {
  it("finds JSON in prose and fences, arrays too", async () => {
    const text = 'One {"a": "}"} two:\n```json\n[1, {"b": "\\"{"}]\n```\n';
    expect(await scan(text, { requiredElements: 2 })).toMatchObject({ isValid: true, score: -1, findings: [] });
    expect(await scan(text, { requiredElements: 3 })).toMatchObject({
      isValid: false,
      score: 1,
      findings: [{ type: "json-missing", label: "2 of 3 required elements" }],
    });
    expect((await scan("No JSON, see [1]", { requiredElements: 1 })).isValid).toBe(false);
    expect((await scan("No JSON")).isValid).toBe(true);
    for (const blank of ["", " \n "]) {
      expect(await scan(blank, { requiredElements: 1 })).toMatchObject({
        isValid: false,
        findings: [{ type: "json-missing", label: "0 of 1 required elements" }],
      });
      expect((await scan(blank)).isValid).toBe(true);
    }
  });

  it("repairs broken JSON in place, and changes nothing else", async () => {
    const text = `é {'a': 1,} and {"n": 123456789012345678901234567890, "n": 1e400}, {name}, {"b": [1, 2`;
    expect(await scan(text)).toMatchObject({
      isValid: true,
      score: -1,
      rewritten: `é {"a": 1} and {"n": 123456789012345678901234567890, "n": 1e400}, {name}, {"b": [1, 2]}`,
    });
    expect(await scan(text, { repair: false })).toMatchObject({
      isValid: false,
      score: 1,
      findings: [
        { type: "json", text: "{'a': 1,}", start: 2, label: "expected a key in double quotes at offset 3" },
        { type: "json", text: '{"b": [1, 2' },
      ],
    });
    expect(await scan('{"a": 1}')).not.toHaveProperty("edits");
  });

  it.each([
    "{{#each items}}<li>{{name}}</li>{{/each}}",
    "{0} and {1}",
    "Dear {{name}}, welcome to {company}!",
    '{"a", "b"}',
    "\\frac{a}{b} and \\text{'x'}",
    "a { color: red; }",
    "type T = { a: string; b: number }",
    "const o = {port: PORT, host: getHost()};",
    'requests.post(url, json={"a": x, "b": 1})',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shell syntax
    "echo ${VAR:-default}",
    "f\"{user['name']} is {age:>3}\"",
    "[1,,2]",
    "query { user(id: 4) { name } }",
    "struct P { x: f64, y: f64 }",
    'if err != nil { return fmt.Errorf("no: %w", err) }',
    '[a-z]{2,3}[^"]*',
    "- [x] done\n- [ ] open [^1]\n\n[^1]: See [the page](https://example.com).",
  ])("ignores %j, also in a fence without a tag", async (text) => {
    for (const whole of [text, `It is written so: ${text}`, `\`\`\`\n${text}\n\`\`\``]) {
      const verdict = await scan(whole);
      expect(verdict, whole).toMatchObject({ isValid: true, findings: [] });
      expect(verdict, whole).not.toHaveProperty("edits");
    }
  });

  it.each([
    // The defects that the documentation of jsonrepair lists.
    ['{"a": [1, 2,],}', { a: [1, 2] }],
    ["{'a': 'it is'}", { a: "it is" }],
    ["{“a”: “b”}", { a: "b" }],
    ["{a: 1, b: 'x'}", { a: 1, b: "x" }],
    ['{"a": 1 // one\n, /* two */ "b": 2}', { a: 1, b: 2 }],
    ['{"a": 1 "b": 2}', { a: 1, b: 2 }],
    ['{"a": True, "b": None}', { a: true, b: null }],
    ['{"a": [1, {"b": "x', { a: [1, { b: "x" }] }],
    ['{"a": Ada}', { a: "Ada" }],
    ['["a", "b",]', ["a", "b"]],
    ['[{"a": 1,}, {"a": 2}]', [{ a: 1 }, { a: 2 }]],
  ])("repairs %j in a tagged fence, and as the whole answer", async (broken, value) => {
    for (const text of [broken, ` ${broken}\n`, `So:\n\`\`\`json\n${broken}\n\`\`\`\n`]) {
      const { isValid, rewritten } = await scan(text);
      expect(isValid, text).toBe(true);
      const fence = rewritten.match(/`json\n([\s\S]*)\n`/)?.[1];
      expect(JSON.parse(fence ?? rewritten)).toEqual(value);
      expect((await scan(text, { repair: false })).findings[0]).toMatchObject({
        type: "json",
        start: text.indexOf(broken),
        end: text.indexOf(broken) + broken.length,
      });
    }
  });

  it.each([
    ["{'a': 'Let's go', 'b': 'l'été'}", { a: "Let's go", b: "l'été" }],
    ['{"a": "the word "no" is short"}', { a: 'the word "no" is short' }],
    ['{"re": "^\\w+\\.\\d{2}$"}', { re: "^\\w+\\.\\d{2}$" }],
    ['{"a": "one\ntwo\t", "b": 1,}', { a: "one\ntwo\t", b: 1 }],
    ['{"url": "https://a.example/b", // no comment in a string\n"c": "# 1"}', { url: "https://a.example/b", c: "# 1" }],
  ])("keeps the content of strings in %j", async (broken, value) => {
    const { isValid, rewritten } = await scan(broken);
    expect(isValid).toBe(true);
    expect(JSON.parse(rewritten)).toEqual(value);
  });

  it.each([
    ["a path, or a line break", '{"path": "D:\\Temp\\new"}'],
    ["the end of a string, or a quote in it", '{"text": "It is 70", which is a lot"}'],
    ["a separator, or a part of a value", '{"a": 1; "b": 2}'],
    ["a number, or text", '{"a": 007}'],
    ["a number that JSON lacks", '{"a": NaN}'],
    ["a missing quote, or text that was cut off", '{"a": "b}'],
  ])("leaves JSON with two readings alone: %s", async (_, text) => {
    expect(await scan(text)).toMatchObject({ isValid: false, rewritten: text, findings: [{ type: "json" }] });
  });

  it("fails JSON that cannot be repaired, and repairs the rest", async () => {
    const verdict = await scan('{"a": 1,}\n```json\n{x}\n```');
    expect(verdict).toMatchObject({ isValid: false, score: 1, findings: [{ text: "{x}" }] });
    expect(verdict.rewritten).toMatch(/^\{"a": 1\}/);
  });

  it("checks schemas, and names the path of a violation", async () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        tags: { type: "array", uniqueItems: true, items: { type: "string", pattern: "^(a+)+$" } },
        mail: { format: "email" },
      },
      required: ["tags"],
    };
    const label = async (text: string) => (await scan(text, { schema })).findings.map(({ label }) => label);
    expect(await label('{"tags": ["a", "aa"], "mail": "x"}')).toEqual([]);
    expect(await label('{"tags": ["a", "b"]}')).toEqual([expect.stringMatching(/^\/tags\/1 must match pattern/)]);
    expect(await label('{"tags": ["a", "a"]}')).toEqual(["/tags must not have items that are equal"]);
    expect(await label('{"tag": []} {"tags": []}')).toEqual(["(root) must have required property 'tags'"]);
    expect(await label(`{"tags": ["${"a".repeat(50_000)}!"]}`)).toEqual([expect.stringMatching(/^\/tags\/0 /)]);
    const name = "k".repeat(50_000);
    const ofName = { properties: { [name]: { type: "string" } } };
    const [far] = (await scan(JSON.stringify({ [name]: 1 }), { schema: ofName })).findings;
    expect(far?.label).toMatch(/^\/k{249}…k{249} must be string$/);
    expect((await scan("{'tags': 1}", { schema })).rewritten).toBe('{"tags": 1}');
    const items = { type: "array", uniqueItems: true };
    expect((await scan('[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', { schema: items })).isValid).toBe(false);
    expect((await scan(`[${Array.from({ length: 20_000 }, (_, n) => `{"n":${n}}`)}]`, { schema: items })).isValid).toBe(
      true,
    );
  });

  it.each([
    ["^(user|guest)$", "user", "user\n"],
    ["^\\d{4}$", "2024", "٢٠٢٤"],
    ["^[\\w-]+$", "a-b", "é-b"],
    ["\\bb", "éb", "ab"],
    ["^\\s$", "\uFEFF", "\u0085"],
    ["^.$", "\u0085", "\u2028"],
    ["^[^]$", "\n", ""],
    ["^\\u{1F600}\\cJ[\\b]$", "😀\n\b", "😀\n"],
    // Patterns often escape characters unnecessarily, which JavaScript rejects.
    ["^\\d\\-\\d$", "1-2", "12"],
  ])("reads the pattern %j as JSON Schema does", async (pattern, good, bad) => {
    for (const [text, isValid] of [[good, true] as const, [bad, false] as const]) {
      const options = { schema: { items: { pattern } } };
      expect(await scan(JSON.stringify([text]), options)).toMatchObject({ isValid });
      const named = { schema: { patternProperties: { [pattern]: true }, additionalProperties: false } };
      expect(await scan(JSON.stringify({ [text]: 1 }), named)).toMatchObject({ isValid });
    }
  });

  it("reads patterns as JavaScript does", async () => {
    const piece = fc.constantFrom(
      ...[
        "a",
        "é",
        "😀",
        "\\d",
        "\\D",
        "\\w",
        "\\W",
        "\\s",
        "\\S",
        "\\b",
        ".",
        "^",
        "$",
        "|",
        "(",
        "(?:",
        "(?<n>",
        ")",
        "[",
        "[^",
        "]",
      ],
      ...[
        "-",
        "*",
        "+",
        "?",
        "{2}",
        "{1,2}",
        "{,2}",
        "{2,1}",
        "{",
        "}",
        "&&",
        "#",
        " ",
        "\\0",
        "\\v",
        "\\/",
        "\\x41",
        "\\u0042",
      ],
      ...[
        "\\u{1F600}",
        "\\uD83D\\uDE00",
        "\\uD83D",
        "\\cJ",
        "\\p{L}",
        "\\P{Script=Greek}",
        "\\pL",
        "\\Z",
        "(?i)",
        "[\\w-]",
        "[a-c]",
      ],
    );
    const text = fc.string({
      unit: fc.constantFrom(
        ..."abcABéÉλ1٢_- &#][",
        "😀",
        "\n",
        "\r",
        "\u2028",
        "\u0085",
        "\uFEFF",
        "\u180E",
        "\0",
        "\v",
      ),
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), fc.array(text, { maxLength: 8 }), async (pieces, texts) => {
        const pattern = pieces.join("");
        // Older versions of Node.js reject duplicate group names.
        fc.pre(pattern.split("(?<").length <= 2);
        let expected: RegExp | undefined;
        try {
          expected = new RegExp(pattern, "u");
        } catch {}
        const make = () => new JSONScanner({ schema: { items: { pattern } } });
        // JavaScript accepts a lone surrogate in a pattern. Guard does not, because it is not a character.
        if (!expected || /\\uD83D(?!\\uDE00)/.test(pattern)) {
          expect(make).toThrow(GuardValidationError);
          return;
        }
        const scanner = make();
        for (const text of texts) {
          expect((await scanned(scanner, JSON.stringify([text]))).isValid).toBe(expected.test(text));
        }
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ["(", /^schema: the pattern "\(" cannot be used: unclosed group \(at offset 0\)$/],
    ["^(?!admin)", /"\^\(\?!admin\)" cannot be used: look-around is not supported.* \(at offset 1\)$/],
    ["(a|b)\\1", /back-references are not supported/],
    ["\\Aa\\Z", /an escape that stands for no character \(at offset 0\)/],
    ["(?i)yes", /unknown kind of group/],
    ["a{,3}", /a \{ that begins no repetition has to be escaped/],
  ])("explains why the pattern %j is invalid", (pattern, message) => {
    for (const schema of [{ items: { pattern } }, { patternProperties: { [pattern]: { type: "string" } } }]) {
      expect(() => new JSONScanner({ schema })).toThrow(message);
    }
  });

  it("limits the time of patterns over many strings", async () => {
    const pattern = "([ab]{1,60}c?){60}x";
    const slow = JSON.stringify(Array.from({ length: 300 }, () => "ab".repeat(1500)));
    const schema = { items: { not: { pattern } } };
    await expect(scan(`${slow} ${slow}`, { schema })).rejects.toMatchObject({
      code: "GUARD_PATTERN",
      message: `schema: its patterns take too long in this text, at last "${pattern}"`,
    });
    const names = JSON.stringify(Array.from({ length: 20_000 }, () => "Ada Lovelace"));
    expect(await scan(names, { schema: { items: { pattern: "^[\\p{L} ]{1,40}$" } } })).toMatchObject({ isValid: true });
  });

  it.each([
    [{ schema: { type: "nothing" } }, "schema"],
    [{ schema: { pattern: "(" } }, "schema"],
    [{ schema: { $ref: "#/nowhere" } }, "schema"],
    [{ requiredElements: -1 }, "requiredElements"],
  ])("refuses %j", (options, path) => {
    let error: unknown;
    try {
      new JSONScanner(options as never);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(GuardValidationError);
    expect((error as GuardValidationError).path).toBe(path);
  });

  it("survives texts that are made to slow it down", async () => {
    for (const unit of ["{", "[", '{"a":', '"a\n', "[{", '{"a" ', '[1 "']) {
      const verdict = await scan(`{"x": [${unit.repeat(20_000)}`);
      expect(verdict.edits === undefined || verdict.isValid).toBe(true);
    }
    const deep = "[".repeat(5000) + "]".repeat(5000);
    expect(await scan(deep)).toMatchObject({
      isValid: false,
      findings: [{ label: "nested deeper than 1000 levels at offset 1000" }],
    });
  }, 60_000);

  it("stops when the scan is aborted", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(scanned(new JSONScanner(), "{'a': 1}", { signal })).rejects.toThrow("enough");
  });

  it("has valid offsets in any text, and changes only repaired JSON", async () => {
    const part = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      "'",
      ":",
      ",",
      "1",
      "a",
      "é",
      "😀",
      " ",
      "\n",
      "```json\n",
      "\\",
    );
    const scanner = new JSONScanner({ repair: false });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 40 }), async (parts) => {
        const text = parts.join("");
        const verdict = await scanned(scanner, text);
        expect(verdict.edits).toBeUndefined();
        expect(verdict.isValid).toBe(verdict.findings.length === 0);
        for (const { start, end, text: found } of verdict.findings) expect(text.slice(start, end)).toBe(found);
      }),
    );
  });

  it("gives short JSON the verdict of the same JSON in a long text", async () => {
    const outside = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "\u00a0", "\ufeff", ",", "}"), maxLength: 2 });
    const parts = fc.tuple(outside, fc.oneof(fc.json(), fc.string()), outside);
    const options = fc.record({ requiredElements: fc.nat({ max: 2 }), repair: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(parts, options, async (parts, options) => {
        const text = parts.join("");
        const short = await scan(text, options);
        const long = await scan(text + " ".repeat(1000), options);
        expect([short.isValid, short.rewritten]).toEqual([long.isValid, long.rewritten.slice(0, -1000)]);
      }),
      { numRuns: 300 },
    );
  });

  it("finds nothing to repair in repaired JSON", async () => {
    const value = fc.json({ maxDepth: 2 }).filter((json) => json.startsWith("{"));
    await fc.assert(
      fc.asyncProperty(value, fc.nat(), async (json, at) => {
        const text = json.slice(0, at % json.length) + json.slice((at % json.length) + 1);
        const { isValid, rewritten } = await scan(text);
        if (isValid) expect(await scan(rewritten)).toMatchObject({ isValid: true });
      }),
      { numRuns: 15 },
    );
  }, 60_000);
});
