import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TokenLimit } from "../../src/scanners/generated/input-scanners.ts";
import { scanned } from "../support/rewritten.ts";

describe("TokenLimit", () => {
  it("truncates a text to whole tokens", async () => {
    // cl100k_base: "Hello", ",", " world", "!", " How", " are", " you", "?"
    const verdict = await scanned(new TokenLimit({ limit: 3 }), "Hello, world! How are you?");
    expect(verdict).toMatchObject({ isValid: false, score: 1, rewritten: "Hello, world" });
    expect(verdict.findings[0]).toMatchObject({ start: 12, end: 26, label: "8 of 3 tokens" });
  });

  it("passes a text of exactly the limit", async () => {
    expect(await scanned(new TokenLimit({ limit: 8 }), "Hello, world! How are you?")).toMatchObject({
      isValid: true,
      score: -1,
    });
  });

  it("counts with the named encoding or model", async () => {
    const text = "Привет, как дела?";
    const count = async (options: ConstructorParameters<typeof TokenLimit>[0]) =>
      Number((await scanned(new TokenLimit({ ...options, limit: 1 }), text)).findings[0]?.label?.split(" ")[0]);
    const [cl100k, o200k] = [await count({ encodingName: "cl100k_base" }), await count({ encodingName: "o200k_base" })];
    expect(cl100k).toBeGreaterThan(o200k);
    expect(await count({ modelName: "gpt-4o" })).toBe(o200k);
    expect(await count({ modelName: "gpt-4" })).toBe(cl100k);
  });

  it("never splits a character", async () => {
    const scanner = new TokenLimit({ limit: 2 });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 40 }), async (text) => {
        const { rewritten } = await scanned(scanner, text);
        expect(text.startsWith(rewritten)).toBe(true);
        expect(rewritten.isWellFormed()).toBe(true);
      }),
    );
  });

  it.each([
    [{ modelName: "no-such-model" }, /no-such-model/],
    [{ tokenizer: "/nowhere/tokenizer.json" }, /nowhere/],
  ])("refuses %j when it is loaded", async (options, message) => {
    await expect(new TokenLimit(options).load()).rejects.toThrow(message);
  });

  it("refuses an unknown encoding", () => {
    expect(() => new TokenLimit({ encodingName: "klingon" as "gpt2" })).toThrow(/encodingName.*cl100k_base/);
  });

  it("refuses a limit of 0", () => {
    expect(() => new TokenLimit({ limit: 0 })).toThrow(/limit/);
  });
});
