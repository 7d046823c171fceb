import { describe, expect, it } from "vitest";
import { JsonNumbers } from "../../src/text/json-numbers.ts";

/** Replaces every run of at least five digits in a text by X, in quotation marks where the text is JSON. */
function replaced(text: string): string {
  const numbers = new JsonNumbers(text);
  return text.replace(/-?\d{5,}/g, (value, start: number) => numbers.quoted({ start, end: start + value.length }, "X"));
}

describe("a replacement of a number of JSON", () => {
  it.each([
    ['{"phone": 4155550132}', '{"phone": "X"}'],
    ['{"phone":14155550132,"n":1}', '{"phone":"X","n":1}'],
    ['{"cards": [4155550132, 4155550133 ,4155550134]}', '{"cards": ["X", "X" ,"X"]}'],
    ['[4155550132, "a", 4155550133]', '["X", "a", "X"]'],
    ['{\n  "phone":\n    4155550132\n}', '{\n  "phone":\n    "X"\n}'],
    ['{"body": "{\\"phone\\": 4155550132}"}', '{"body": "{\\"phone\\": \\"X\\"}"}'],
  ])("is quoted in %j", (text, expected) => {
    expect(replaced(text)).toBe(expected);
    expect(() => JSON.parse(expected)).not.toThrow();
  });

  it.each([
    'Call me: 4155550132, or "Ann".',
    '{"phone": "4155550132"}',
    "[4155550132]: see below",
    "numbers = [4155550132]",
    'He said "call": 4155550132.',
    "{phone: 4155550132}",
  ])("is not quoted in %j", (text) => {
    expect(replaced(text)).toBe(text.replace(/\d{5,}/g, "X"));
  });

  it("stays a number if it is one", () => {
    expect(new JsonNumbers('{"a": 12345}').quoted({ start: 6, end: 11 }, "54321")).toBe("54321");
  });

  it("is quoted in a long array", () => {
    const numbers = Array.from({ length: 2000 }, (_, index) => 10_000 + index);
    expect(JSON.parse(replaced(JSON.stringify({ numbers }))).numbers).toEqual(numbers.map(() => "X"));
  });
});
