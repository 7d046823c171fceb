import { type Abortable, addon, native } from "../../native.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import type { Span } from "../../text/span.ts";
import { decodeReadable } from "./url-parts.ts";

/** Invisible characters that carry a text. */
export interface HiddenMessage extends Span {
  /** What carries it: `tag characters`, `variation selectors` or `zero-width characters`. */
  carrier: string;
}

/** The fewest characters of a message. Shorter ones occur by chance, such as the rest of a flag. */
const MIN_LENGTH = 4;

/** How many characters are read per time slice. All of them are in the Basic Multilingual Plane. */
const PORTION = 4096;

/**
 * Finds messages in invisible characters: in Unicode tags, which mirror ASCII (block U+E0000); in variation selectors, which stand for
 * bytes; and in two kinds of zero-width characters, which stand for bits, in bytes of eight or seven bits, anywhere in the text.
 */
export async function hiddenMessages(text: string, { signal }: Abortable): Promise<HiddenMessage[]> {
  if (!/[^\p{ASCII}]/u.test(text)) return [];
  const { runs, kinds } = await native(() => addon.scanInvisible(text, []), { signal });
  const slice = new TimeSlice(signal);
  const found: HiddenMessage[] = [];
  const zeroWidth: Span[] = [];
  for (let row = 0; row < runs.length; row += 3) {
    if (slice.isOver) await slice.next();
    const [start, end] = [runs[row] as number, runs[row + 1] as number];
    const kind = kinds[runs[row + 2] as number];
    const run = text.slice(start, end);
    if (kind === "tags") {
      if ([...run].filter(isPrintableTag).length >= MIN_LENGTH) found.push({ start, end, carrier: "tag characters" });
    } else if (kind === "variation_selectors") {
      if (decodeReadable(Uint8Array.from([...run].map(selectorByte))).length >= MIN_LENGTH) {
        found.push({ start, end, carrier: "variation selectors" });
      }
    } else zeroWidth.push({ start, end });
  }
  const joined = zeroWidth.map(({ start, end }) => text.slice(start, end)).join("");
  if (await isMessage(joined, slice)) {
    for (const span of zeroWidth) found.push({ ...span, carrier: "zero-width characters" });
  }
  return found.sort((a, b) => a.start - b.start);
}

function isPrintableTag(character: string): boolean {
  const code = (character.codePointAt(0) as number) - 0xe0000;
  return code > 0x20 && code < 0x7f;
}

/** Returns the byte of a variation selector: U+FE00 to U+FE0F are 0 to 15, U+E0100 to U+E01EF are 16 to 255. */
function selectorByte(character: string): number {
  const code = character.codePointAt(0) as number;
  return code >= 0xe0100 ? code - 0xe0100 + 16 : code - 0xfe00;
}

/** Whether zero-width characters are the bits of a text. Its two most frequent characters are the bits, and others separate letters. */
async function isMessage(characters: string, slice: TimeSlice): Promise<boolean> {
  const counts = new Map<string, number>();
  for (let at = 0; at < characters.length; at += PORTION) {
    if (slice.isOver) await slice.next();
    for (const unit of characters.slice(at, at + PORTION)) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  }
  const [zero, one] = [...counts].sort((a, b) => b[1] - a[1]).map(([character]) => character);
  if (zero === undefined || one === undefined) return false;
  const bits: boolean[] = [];
  for (let at = 0; at < characters.length; at += PORTION) {
    if (slice.isOver) await slice.next();
    for (const unit of characters.slice(at, at + PORTION)) {
      if (unit === zero || unit === one) bits.push(unit === one);
    }
  }
  for (const width of [8, 7]) {
    for (const set of [false, true]) {
      if (slice.isOver) await slice.next();
      const bytes = new Uint8Array(Math.floor(bits.length / width));
      for (let at = 0; at < bytes.length * width; at += 1) {
        const byte = Math.floor(at / width);
        bytes[byte] = (bytes[byte] as number) * 2 + (bits[at] === set ? 1 : 0);
      }
      if (decodeReadable(bytes).length >= MIN_LENGTH) return true;
    }
  }
  return false;
}
