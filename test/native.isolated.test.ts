import { describe, expect, it } from "vitest";
import { addon, native } from "../src/native.ts";
import { Regex, Secrets } from "../src/scanners/generated/input-scanners.ts";
import { GuardError, GuardValidationError } from "../src/support/errors.ts";
import { splitSentences } from "../src/text/sentences.ts";

/** The addon processes longer texts, in UTF-16 code units, asynchronously. */
const SHORT = 16_384;
/** Half of the limit, which is short whatever the characters are. */
const SURELY_SHORT = SHORT / 2;
const MEGABYTE = "One sentence here. Another one there! ".repeat(27_595);

const search = { matchType: "search", deobfuscate: false } as const;

/** The functions of the addon, with names in the form `PatternSet.scanner`. */
function functions(): string[] {
  return Object.entries(addon).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "function" && /^[A-Z]/.test(name)
      ? Object.getOwnPropertyNames(value.prototype).map((method) => `${name}.${method}`)
      : [name],
  );
}

/** The error that a call throws or rejects with. */
async function errorOf(call: () => unknown): Promise<Error & { code?: unknown; path?: unknown }> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  throw new Error("the call did not fail");
}

describe("a result of the addon", () => {
  it("has one function each", () => {
    const names = functions();
    expect(names).toContain("splitSentences");
    expect(names).toContain("TokenEncoding.counter");
    expect(names.filter((name) => name.endsWith("Long"))).toEqual([]);
  });

  it.each([
    ["ASCII", "a"],
    ["two bytes each", "é"],
    ["three bytes each", "汉"],
    ["four bytes and two units each", "😀"],
  ])("is synchronous for a short text, and a promise for a longer one: %s", async (_, character) => {
    const short = character.repeat(SURELY_SHORT / character.length);
    const long = `${short}${short}b`;
    expect(addon.splitSentences(short)).toEqual(Uint32Array.of(0, short.length));
    const answer = addon.splitSentences(long);
    expect(answer).toBeInstanceOf(Promise);
    expect(await answer).toEqual(Uint32Array.of(0, long.length));
  });

  it.each([
    ["findJson", (text: string) => addon.findJson(text)],
    ["findUrls", (text: string) => addon.findUrls(text)],
    ["readingTime", (text: string) => addon.readingTime(text, 1)],
    [
      "restorePlaceholders",
      async (text: string) => (await addon.restorePlaceholders(text, ["[A]"], ["b"], "exact")).matches,
    ],
    ["revealingViews", (text: string) => addon.revealingViews(text)],
    ["scanInvisible", (text: string) => addon.scanInvisible(text, [])],
    ["sentiment", (text: string) => addon.sentiment(text)],
    ["PatternSet", new addon.PatternSet(["[0-9]"], search).scanner()],
  ])("is the same both ways: %s", async (_, ask) => {
    const text = 'A "nice" text with {"json": 1}, https://example.org/ and [A] 7. '.padEnd(SHORT, " ");
    const [short, long] = [await ask(text), await ask(`${text} `)];
    expect(long).toEqual(short);
  });

  it("does not block the event loop for a text of a megabyte", async () => {
    expect(MEGABYTE.length).toBeGreaterThan(2 ** 20);
    expect(addon.splitSentences(MEGABYTE)).toBeInstanceOf(Promise);
    expect(await splitSentences(MEGABYTE)).toHaveLength(2 * 27_595);
  });

  it("is a promise if a short text may cost much", async () => {
    const slow = new addon.PatternSet(["(a)\\1"], search).scanner();
    expect(slow("b")).toBeInstanceOf(Promise);
    expect(addon.restorePlaceholders("b", ["[A]"], ["b"], "fuzzy")).toBeInstanceOf(Promise);
  });

  it("is passed on as it is: the value itself, or a promise", async () => {
    expect(native(() => addon.splitSentences("One. Two."))).toHaveLength(4);
    const later = native(() => addon.splitSentences(MEGABYTE));
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toHaveLength(4 * 27_595);
  });
});

describe("an error of the addon", () => {
  it.each<[string, () => unknown, { code: string; path?: string; message: RegExp }]>([
    [
      "a pattern",
      () => new addon.PatternSet(["a", "(b"], search),
      { code: "GUARD_PATTERN", path: "patterns.1", message: /^unclosed group/ },
    ],
    [
      "a rule for secrets",
      () => new addon.SecretRules({ rules: [{ id: "x", pattern: "(", keywords: [] }], disabledRules: [], allow: [] }),
      { code: "GUARD_VALIDATION", path: "rules.0.pattern", message: /^unclosed group/ },
    ],
    [
      "an argument, at once",
      () => addon.restorePlaceholders("x", ["[A]"], [], "exact"),
      { code: "GUARD_VALIDATION", message: /^each placeholder/ },
    ],
    [
      "an argument, later",
      () => addon.restorePlaceholders("x".repeat(SHORT + 1), ["[A]"], [], "exact"),
      { code: "GUARD_VALIDATION", message: /^each placeholder/ },
    ],
    ["a linear model", () => addon.loadLinear("/nowhere"), { code: "GUARD_MODEL", message: /^the model file / }],
    [
      "an encoding",
      () => addon.loadEncoding("encoding", "none"),
      { code: "GUARD_VALIDATION", message: /^unknown encoding "none"/ },
    ],
  ])("has its code and path in fields: %s", async (_, call, { message, ...fields }) => {
    const given = await errorOf(call);
    expect(given).toBeInstanceOf(Error);
    expect({ ...given }).toEqual(fields);
    expect(given.message).toMatch(message);
    expect(given.message).not.toMatch(/GUARD_|\|/);
    const error = await errorOf(() => native(call));
    expect(error).toBeInstanceOf(GuardError);
    expect(error).toMatchObject({ ...fields, message: given.message });
  });

  it("is passed on if Node-API rejects an argument", async () => {
    const error = await errorOf(() => native(() => addon.splitSentences(7 as never)));
    expect(error).not.toBeInstanceOf(GuardError);
    expect(error).toBeInstanceOf(Error);
  });

  it("names the invalid option in the error of a scanner", async () => {
    expect(await errorOf(() => new Regex({ patterns: ["a", "(b"] }))).toMatchObject({
      name: "GuardValidationError",
      path: "patterns.1",
      issues: [{ path: "patterns.1", message: "unclosed group (at offset 0)" }],
    });
    const disabled = await errorOf(() => new Secrets({ disabledRules: ["none"] }));
    expect(disabled).toBeInstanceOf(GuardValidationError);
    expect(disabled.path).toBe("disabledRules.0");
  });
});
