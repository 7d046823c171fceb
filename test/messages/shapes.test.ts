import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readConversation } from "../../src/messages/read-conversation.ts";
import type { ChatRequest } from "../../src/scan/chat-request.ts";
import type { MessageText } from "../../src/scan/conversation-text.ts";
import { shapes } from "./shapes.ts";

const strings = ({ text, pieces }: MessageText) => pieces.map(({ start, end }) => text.slice(start, end));
const skippedIn = (texts: readonly MessageText[]) => texts.reduce((sum, { skipped }) => sum + skipped, 0);

describe("shapes of messages", () => {
  it.each(shapes)("$api: $shape", ({ request, texts, skipped, without }) => {
    const read = readConversation(request).texts;
    const found = read.flatMap((text) => {
      const values = strings(text);
      return text.pieces.map(({ path }, index) => [text.source, path, values[index]]);
    });
    expect(found).toEqual(texts);
    expect(skippedIn(read)).toBe(skipped);
    // Skipped content must be counted or explained.
    expect(texts.length > 0 || skipped > 0 || without !== undefined).toBe(true);
  });

  it("are at least eighty, and all different", () => {
    const names = shapes.map(({ api, shape }) => `${api} ${shape}`);
    expect(names.length).toBeGreaterThanOrEqual(80);
    expect(new Set(names).size).toBe(names.length);
  });
});

/** Arbitrary UTF-16 code units, with lone surrogates, controls and characters that JSON escapes. */
const anyUnits = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0x22, 0x5c, 0x0a, 0xd800, 0xdc00, 0xfeff)))
  .map((units) => String.fromCharCode(...units));

/**
 * Arbitrary text after two words. Text that is JSON would be read as its strings, and names and keys are read only if they could
 * be instructions, so neither would be read back unchanged.
 */
const replacement = anyUnits.map((text) => `Please read ${text}`);

/** Whether a request encodes the string at a path, for example in base64, which cannot represent lone surrogates. */
function isEncoded(request: ChatRequest, path: string, text: string): boolean {
  if (path.includes(" → ") || path.endsWith(" (key)")) return false;
  let value: unknown = request;
  for (const key of path.split("/")) value = (value as Record<string, unknown>)[key];
  return typeof value === "string" && value !== text;
}

/** Replaces all strings of a request one by one. */
function replaced(request: ChatRequest, next: (path: string, text: string) => string): ChatRequest {
  const conversation = readConversation(request);
  return conversation.rewrite(
    new Map(
      conversation.texts.map((text) => {
        const values = strings(text);
        return [text, text.pieces.map(({ path }, index) => next(path, values[index] as string))] as const;
      }),
    ),
  );
}

describe("a rewritten request", () => {
  it.each(shapes.filter(({ texts }) => texts.length > 0))(
    "is read again: $api: $shape",
    ({ request, texts, skipped }) => {
      const before = JSON.stringify(request);
      fc.assert(
        fc.property(fc.array(replacement, { minLength: texts.length, maxLength: texts.length }), (values) => {
          const wanted = texts.map(([, path, text], index) => {
            const value = values[index] as string;
            return isEncoded(request, path, text) ? value.toWellFormed() : value;
          });
          let index = 0;
          const after = readConversation(replaced(request, () => values[index++] as string)).texts;
          expect(after.flatMap(strings)).toEqual(wanted);
          expect(after.flatMap(({ source, pieces }) => pieces.map(() => source))).toEqual(
            texts.map(([source]) => source),
          );
          expect(skippedIn(after)).toBe(skipped);
          expect(JSON.stringify(request)).toBe(before);
        }),
        { numRuns: 20 },
      );
    },
  );

  it("may contain any text in the messages of users, models and systems, JSON too", () => {
    const text = fc.oneof(anyUnits, fc.json());
    fc.assert(
      fc.property(fc.constantFrom("user", "assistant", "system", "developer"), text, text, (role, from, to) => {
        const request: ChatRequest = { messages: [{ role, content: from }] };
        expect(replaced(request, () => to).messages).toEqual([{ role, content: to }]);
        expect(readConversation({ messages: [{ role, content: to }] }).texts.flatMap(strings)).toEqual([to]);
      }),
    );
  });

  it("stays JSON, and only strings change", () => {
    const upper = (value: unknown): unknown => {
      if (typeof value === "string") return value === "" ? "" : `<${value}>`;
      if (Array.isArray(value)) return value.map(upper);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, upper(item)]));
    };
    // Keys that could be prose are pieces too. These keys could not, and no string is JSON.
    const key = fc.string({ unit: fc.constantFrom(..."abcxyz"), minLength: 1, maxLength: 8 });
    const leaf = fc.oneof(
      anyUnits.map((text) => `~${text}`),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("value")), fc.dictionary(key, tie("value"))),
    }));
    fc.assert(
      fc.property(fc.array(value), fc.constantFrom(0, 2), (data, indent) => {
        const request: ChatRequest = { messages: [{ role: "tool", content: JSON.stringify(data, null, indent) }] };
        const { messages } = replaced(request, (_, text) => `<${text}>`);
        expect(JSON.parse(messages[0]?.content as string)).toEqual(upper(data));
      }),
    );
  });
});
