import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blocksOf } from "../../../src/server/console/places.js";
import { type Placed, segmentsOf, unseenCharacters } from "../../../src/server/console/segments.js";

const finding = (start: number, end: number, more: object = {}) => ({ start, end, type: "word", score: 1, ...more });
const placed = (start: number, end: number, scanner = "A"): Placed => ({
  scanner,
  finding: finding(start, end),
  start,
  end,
});

describe("segmentsOf", () => {
  it("counts code points", () => {
    const segments = segmentsOf("😀a🦓b", [placed(2, 3)]);
    expect(segments.map(({ text, covering }) => [text, covering.length])).toEqual([
      ["😀a", 0],
      ["🦓", 1],
      ["b", 0],
    ]);
  });

  it("puts the narrowest of overlapping findings first, and lists the findings that end in each segment", () => {
    const segments = segmentsOf("abcdef", [placed(0, 6, "Whole"), placed(1, 3, "One"), placed(2, 4, "Two")]);
    expect(segments.map(({ text, covering, ending }) => [text, covering.map(named), ending.map(named)])).toEqual([
      ["a", ["Whole"], []],
      ["b", ["One", "Whole"], []],
      ["c", ["One", "Two", "Whole"], ["One"]],
      ["d", ["Two", "Whole"], ["Two"]],
      ["ef", ["Whole"], ["Whole"]],
    ]);
  });

  it("skips empty findings, and clips findings at the end of the text", () => {
    expect(segmentsOf("ab", [placed(1, 1), placed(1, 9)]).map(({ text, ending }) => [text, ending.length])).toEqual([
      ["a", 0],
      ["b", 1],
    ]);
    expect(segmentsOf("", [placed(0, 3)])).toEqual([]);
  });

  it("covers the whole text for any findings", () => {
    const range = fc.tuple(fc.nat(30), fc.nat(30));
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 20 }), fc.array(range), (text, ranges) => {
        const segments = segmentsOf(
          text,
          ranges.map(([start, end]) => placed(start, end)),
        );
        expect(segments.map((segment) => segment.text).join("")).toBe(text);
        const length = Array.from(text).length;
        const shown = ranges.filter(([start, end]) => Math.min(end, length) > start);
        expect(segments.flatMap(({ ending }) => ending)).toHaveLength(shown.length);
      }),
    );
  });
});

describe("unseenCharacters", () => {
  it.each([
    ["\u200b\u202e", ["U+200B", "U+202E"]],
    ["\u{e0041}", ["U+E0041"]],
    ["a\u200b", undefined],
    ["\n", undefined],
    ["", undefined],
  ])("of %j are %j", (text, names) => {
    expect(unseenCharacters(text)).toEqual(names);
  });
});

describe("blocksOf", () => {
  const conversation = (...messages: [role: string, content: string][]) => ({
    kind: "conversation" as const,
    messages: messages.map(([role, content]) => ({ role, content })),
  });
  const shown = ({ blocks }: ReturnType<typeof blocksOf>) =>
    blocks.map(({ text, placed }) =>
      placed.map(({ scanner, start, end }) => [scanner, Array.from(text).slice(start, end).join("")]),
    );

  it("shows findings of an output in the output", () => {
    const found = blocksOf({ kind: "output", prompt: "abc", output: "xyz" }, { A: [finding(0, 1)] }, 3);
    expect(shown(found)).toEqual([[], [["A", "x"]]]);
  });

  it("shows findings of a conversation in its latest user message, the window, tool results and risky messages", () => {
    const subject = conversation(
      ["user", "old"],
      ["user", "😀 one"],
      ["assistant", "?"],
      ["user", "two"],
      ["tool", "first result"],
      ["tool", "second result"],
    );
    const found = blocksOf(
      subject,
      {
        A: [finding(0, 3, { message: 3, path: "messages/3/content" })],
        // "😀 one\ntwo": from the o of one to the t of two.
        "A[window]": [finding(2, 7)],
        "A[tool]": [finding(0, 6, { message: 5, path: "messages/5/content" })],
        ConversationRisk: [finding(0, 3, { label: "user message 1" })],
      },
      2,
    );
    expect(found.unplaced).toEqual([]);
    expect(shown(found)).toEqual([
      [["ConversationRisk", "old"]],
      [["A[window]", "one"]],
      [],
      [
        ["A", "two"],
        ["A[window]", "t"],
      ],
      [],
      [["A[tool]", "second"]],
    ]);
  });

  it("counts findings in texts that it does not show", () => {
    const findings = { "A[tool]": [finding(0, 6, { message: 1, path: "messages/1/content → name" })] };
    expect(blocksOf(conversation(["user", "x"], ["tool", '{"name":"first"}']), findings, 3).unplaced).toHaveLength(1);
  });
});

function named({ scanner }: Placed): string {
  return scanner;
}
