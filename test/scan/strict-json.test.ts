import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AmbiguousJsonError, parseStrict } from "../../src/support/strict-json.ts";

const faultOf = (text: string) => {
  try {
    parseStrict(text);
  } catch (error) {
    return error instanceof AmbiguousJsonError ? error.path : error;
  }
  return undefined;
};

describe("unambiguous JSON", () => {
  it("gives the same value as JSON.parse", () => {
    const tree = fc.jsonValue({ maxDepth: 4 });
    const text = fc.tuple(tree, fc.nat(1)).map(([value, blanks]) => JSON.stringify(value, undefined, blanks));
    fc.assert(
      fc.property(text, (json) => {
        // `__proto__`, and a constructor with a prototype, are refused: see below.
        fc.pre(!/"(?:__proto__|prototype)"/.test(json));
        expect(JSON.stringify(parseStrict(json))).toBe(JSON.stringify(JSON.parse(json)));
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['{"a":1,"a":2}', ["a"]],
    ['{"a":1,"\\u0061":1}', ["a"]],
    ['{"a" : {} ,\n"b":[1,{"c":1,"d:\\"":{"c":1},"c" :2}]}', ["b", 1, "c"]],
    ['[[],[{"x":"},{","x":1}]]', [1, 0, "x"]],
    ['{"\\\\":1,"\\\\":1}', ["\\"]],
    ['{"":{"":1,"":2}}', ["", ""]],
    ['{"__proto__":1}', ["__proto__"]],
    ['[{"a":{"\\u005f_proto__":{}}}]', [0, "a", "__proto__"]],
    ['{"a":[1,1e400]}', ["a", 1]],
    ["-1e999", []],
    ['{"x":[1,{"constructor":{"a":1,"prototype":2}}]}', ["x", 1, "constructor"]],
  ])("is not %s", (text, path) => {
    expect(faultOf(text)).toEqual(path);
  });

  it.each([
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '{"a\\\\":1,"a":2}',
    '["a",":","a"]',
    '{"constructor":1,"prototype":{"x":1}}',
    '"a:b"',
    `{"${"x".repeat(30)}\\"${"y".repeat(40)}\\\\":1,"${"\\\\".repeat(40)}":"${'\\"'.repeat(40)}"}`,
    "1e308",
  ])("is %s", (text) => {
    expect(parseStrict(text)).toEqual(JSON.parse(text));
  });

  it("does not include invalid JSON", () => {
    for (const text of ["", "{", '{"a":1,}', '"a', "nope", "{'a':1}"])
      expect(faultOf(text)).toBeInstanceOf(SyntaxError);
  });

  it("is recognized in bodies of any depth and many keys", () => {
    const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    expect([500, 501, 500_000].map((levels) => faultOf(nested(levels)))).toEqual([undefined, [], []]);
    const keys = Array.from({ length: 10_000 }, (_, index) => `"k${index}":${index}`);
    expect(faultOf(`{${keys.join()}}`)).toBeUndefined();
    expect(faultOf(`{${keys.join()},"k7":0}`)).toEqual(["k7"]);
  });

  it("is reported by a path with truncated keys", () => {
    expect(faultOf(`{"${"k".repeat(1000)}":1,"${"k".repeat(1000)}":2}`)).toEqual([`${"k".repeat(64)}…`]);
  });
});
