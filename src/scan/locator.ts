import { firstIndexWhere } from "../support/binary-search.ts";
import { codePointOffsets, lengthIn, type OffsetUnit } from "../text/offsets.ts";
import type { Span } from "../text/span.ts";
import type { MessageText } from "./conversation-text.ts";
import type { Coverage } from "./scanner.ts";

/** The message and the string of a span. */
interface Location {
  message?: number;
  path?: string;
}

/**
 * Converts spans of a text to the unit of the caller. In a conversation, a span within one string counts in that string and has its path. A
 * span over several strings counts in the whole text.
 */
export class Locator {
  readonly #text: string;
  readonly #place: MessageText | undefined;
  readonly #unit: OffsetUnit;

  constructor(text: string, place: MessageText | undefined, unit: OffsetUnit) {
    this.#text = text;
    this.#place = place;
    this.#unit = unit;
  }

  /** Converts spans from UTF-16 code units of the text, and adds their locations. */
  located<Located extends Span>(spans: readonly Located[]): (Located & Location)[] {
    const place = this.#place;
    if (spans.length === 0) return [];
    if (!place && this.#unit === "utf16") return [...spans];
    const pieces = spans.map((span) => place && pieceOf(place, span));
    const toUnit = this.#converter(spans.flatMap(({ start, end }, index) => [start, end, pieces[index]?.start ?? 0]));
    return spans.map((span, index) => {
      const piece = pieces[index];
      const base = toUnit(piece?.start ?? 0);
      const located: Located & Location = Object.assign({}, span, {
        start: toUnit(span.start) - base,
        end: toUnit(span.end) - base,
      });
      if (place?.message !== undefined) located.message = place.message;
      if (place) located.path = piece?.path ?? place.path;
      return located;
    });
  }

  /** Converts the coverage of a check of the text to the unit of the caller. */
  coverage(coverage: Coverage): Coverage {
    const chars = lengthIn(this.#unit, this.#text);
    if (chars === coverage.chars) return coverage;
    // It is unknown which code units were not scanned. They are at most as many code points, so the difference never claims too much.
    const unscanned = coverage.chars - coverage.scannedChars;
    return Object.assign({}, coverage, { chars, scannedChars: Math.max(0, chars - unscanned) });
  }

  #converter(offsets: readonly number[]): (offset: number) => number {
    if (this.#unit === "utf16") return (offset) => offset;
    const points = codePointOffsets(this.#text, offsets);
    return (offset) => points.get(offset) ?? offset;
  }
}

/** Returns the string of a text that contains a whole span. */
function pieceOf({ pieces }: MessageText, { start, end }: Span): MessageText["pieces"][number] | undefined {
  const piece = pieces[firstIndexWhere(pieces, (piece) => piece.start > start) - 1];
  return piece && end <= piece.end ? piece : undefined;
}
