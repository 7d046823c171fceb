import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { GuardValidationError } from "../../src/errors.ts";
import { MaliciousURLs } from "../../src/generated/input-scanners.ts";

const scanner = new MaliciousURLs();
afterAll(() => scanner.close());

const links = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}-links.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n");

async function flagged(urls: string[]): Promise<string[]> {
  const verdicts = await Promise.all(
    urls.map(async (url) => [url, await scanner.scan(`See ${url} for more.`)] as const),
  );
  return verdicts.filter(([, { isValid }]) => !isValid).map(([url]) => url);
}

describe("MaliciousURLs", () => {
  it("flags no ordinary link", async () => {
    expect(await flagged(links("ordinary"))).toEqual([]);
  });

  it("flags obviously bad links", async () => {
    // The model misses a link that names no brand, as its card says.
    const bad = links("malicious");
    expect((await flagged(bad)).length).toBeGreaterThanOrEqual(bad.length - 1);
  });

  it("says which URL, what it is and how sure it is, also of a disguised one", async () => {
    const text =
      "😀 See https://github.com/ and hxxp://paypal[.]com.secure-login.verify-account[.]tk/webscr?cmd=_login-run.";
    const { isValid, score, findings } = await scanner.scan(text);
    expect(isValid).toBe(false);
    expect(score).toBeGreaterThan(0);
    expect(findings).toMatchObject([
      {
        start: 31,
        end: text.length - 1,
        type: "url",
        text: "hxxp://paypal[.]com.secure-login.verify-account[.]tk/webscr?cmd=_login-run",
        label: "phishing",
      },
    ]);
    expect(findings[0]?.score).toBeGreaterThan(0.5);
  });

  it.each(["", "no link here", "mail me@example.com", "main.py"])("passes %j", async (text) => {
    expect(await scanner.scan(text)).toMatchObject({ isValid: true, score: -1, findings: [] });
  });

  it("keeps to its threshold", async () => {
    const text = "http://185.234.12.9/bins/mirai.x86";
    expect((await new MaliciousURLs({ threshold: 1 }).scan(text)).isValid).toBe(true);
    expect((await new MaliciousURLs({ threshold: 0 }).scan("https://github.com/")).isValid).toBe(false);
  });

  it("refuses a model that is not there", () => {
    expect(() => new MaliciousURLs({ model: "embedded:nothing" })).toThrow(GuardValidationError);
  });

  it("takes any text", async () => {
    const part = fc.oneof(
      fc.constantFrom("http://", "[.]", ".com", "/", "@", "。"),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (parts) => {
        const text = parts.join("").toWellFormed();
        for (const { start, end } of (await scanner.scan(text)).findings) {
          expect(start < end && end <= text.length).toBe(true);
        }
      }),
    );
  });
});
