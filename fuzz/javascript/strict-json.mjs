// The strict JSON reader: it returns the values of JSON.parse, rejects repeated names, and throws only two types of errors.
import assert from "node:assert/strict";
import fc from "fast-check";
import { AmbiguousJsonError, parseStrict } from "../../dist/support/strict-json.js";
import { mutatedText } from "./mutate.mjs";

const seeds = [
  '{"a":1,"b":{"a":[1,"\\u0061",{}]},"c":"\\"a\\":1"}',
  '[{"a":1},{"a":2}]',
  '{"a":1,"\\u0061":2}',
  "1e999",
  "[[[]]]",
  '{"__proto__":1}',
];
const keys = fc.constantFrom("a", "b", "\\u0061", '\\"', "\\\\", "__proto__", "é", "", ":", "{");
const objects = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("1", '"a"', "null", '"\\\\"', "1e400", '"{\\"a\\":1}"'),
    tie("object"),
    tie("array"),
  ),
  object: fc
    .array(fc.tuple(keys, tie("value")), { maxLength: 4 })
    .map((list) => `{${list.map(([key, value]) => `"${key}" :${value}`)}}`),
  array: fc.array(tie("value"), { maxLength: 3 }).map((list) => `[${list}]`),
})).value;

export const property = fc.property(fc.oneof(objects, mutatedText(seeds)), (text) => {
  let value;
  try {
    value = parseStrict(text);
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof AmbiguousJsonError)) throw error;
    if (error instanceof SyntaxError) assert.throws(() => JSON.parse(text));
    return;
  }
  assert.deepEqual(value, JSON.parse(text));
  // Each name of the text is a name of the value: otherwise the reader dropped a pair.
  const strings = text.replaceAll(/\\./g, "__").matchAll(/"[^"]*"(\s*:)?/g);
  const names = [...strings].filter(([, colon]) => colon !== undefined).length;
  let held = 0;
  JSON.stringify(value, (_, part) => {
    if (typeof part === "object" && part !== null && !Array.isArray(part)) held += Object.keys(part).length;
    return part;
  });
  assert.equal(held, names);
});
