import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyEdits, diffEdits, type Edit, EditedText } from "../../src/scan/edits.ts";

const texts = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀", "\n"), maxLength: 24 });

/** Arbitrary edits of a text: ascending, without overlaps, and never inside a character. */
function editsOf(text: string) {
  const borders = [0, ...[...text].map((_, index, all) => all.slice(0, index + 1).join("").length)];
  return fc
    .array(
      fc.tuple(fc.nat(borders.length - 1), fc.nat(3), fc.string({ unit: fc.constantFrom("x", "🙂"), maxLength: 4 })),
      {
        maxLength: 4,
      },
    )
    .map((drafts) => {
      const edits: Edit[] = [];
      for (const [from, length, replacement] of drafts.sort(([a], [b]) => a - b)) {
        const start = borders[from] as number;
        const end = borders[Math.min(from + length, borders.length - 1)] as number;
        const last = edits.at(-1);
        if (last && (start < last.end || (start === last.start && last.start === last.end))) continue;
        if (start === end && replacement === "") continue;
        edits.push({ start, end, replacement });
      }
      return edits;
    });
}

describe("diffEdits", () => {
  it("turns one text into the other with edits that split no character", () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const edits = diffEdits(before, after);
        expect(applyEdits(before, edits)).toBe(after);
        for (const { start, end, replacement } of edits) {
          expect(before.slice(start, end).isWellFormed?.() ?? true).toBe(true);
          expect(replacement.isWellFormed?.() ?? true).toBe(true);
        }
      }),
    );
  });
});

describe("EditedText", () => {
  it("keeps edits of the original text with the same effect as all rewrites in turn", () => {
    const chains = texts.chain((text) =>
      editsOf(text).chain((one) => {
        const second = applyEdits(text, one);
        return editsOf(second).chain((two) =>
          editsOf(applyEdits(second, two)).map((three) => ({ text, lists: [one, two, three] })),
        );
      }),
    );
    fc.assert(
      fc.property(chains, ({ text, lists }) => {
        const edited = new EditedText(text);
        let expected = text;
        for (const edits of lists) {
          expected = applyEdits(expected, edits);
          edited.apply(edits);
        }
        expect(edited.text).toBe(expected);
        expect(applyEdits(text, edited.edits)).toBe(expected);
        for (const [index, edit] of edited.edits.entries()) {
          expect(edit.start).toBeLessThanOrEqual(edit.end);
          expect(edit.start).toBeGreaterThanOrEqual(edited.edits[index - 1]?.end ?? 0);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("maps text that no rewrite touched to the same text in the original", () => {
    const cases = texts.chain((text) => editsOf(text).map((edits) => ({ text, edits })));
    fc.assert(
      fc.property(cases, fc.nat(), fc.nat(), ({ text, edits }, a, b) => {
        const edited = new EditedText(text);
        edited.apply(edits);
        const length = edited.text.length + 1;
        const [start, end] = [Math.min(a % length, b % length), Math.max(a % length, b % length)];
        const [span = { start: 0, end: 0 }] = edited.originalSpans([{ start, end }]);
        expect(span.start).toBeLessThanOrEqual(span.end);
        expect(span.start).toBeGreaterThanOrEqual(0);
        expect(span.end).toBeLessThanOrEqual(text.length);
        const touched = edits.some((edit) => edit.start < span.end && edit.end > span.start);
        const slice = edited.text.slice(start, end);
        if (!touched && start < end && !/[x🙂]|\p{Surrogate}/u.test(slice)) {
          expect(text.slice(span.start, span.end)).toBe(slice);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
