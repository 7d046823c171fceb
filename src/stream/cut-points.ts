import type { Abortable } from "../native.ts";
import { characterAt, characterBefore, isSpacelessScript } from "../text/characters.ts";
import { splitSentences } from "../text/sentences.ts";

/** What belongs to the character before it: marks, joiners, variation selectors, modifiers of emoji. */
const JOINED = /[\p{M}\p{Cf}\p{Emoji_Modifier}]/u;
/** What ends a sentence (UAX #44, property Sentence_Terminal), or may do so. It is looked for first, because that takes less time. */
const ENDS = /[\p{Sentence_Terminal}…\n\r\u2028\u2029]/u;
/**
 * The end of a text that may go on as a number in groups: of a card, a telephone, an account. Each group can be read in one way only, so
 * that the time does not double with each of them.
 */
const GROUPS = /(?:(?<=[^\p{L}\p{N}]|^)\+?[\p{N}A-Z()/.-]{1,13}[ \t\u00a0\u202f]){1,12}\+?[\p{N}A-Z()/.-]{0,13}$/u;
/** The end of a text in which every letter stands by itself. */
const SPACED = /(?:(?<=\s|^)\S{1,2}\s){4,512}\S{0,2}$/u;
/** The end of a text that is lines of one long word each, as base64 is written. */
const LINES = /(?<=\n|^)(?:[ \t]*\S{32,}[ \t]*\r?\n)+[ \t]*\S*$/u;
/** How much of the end of a text is looked at for these. */
const TAIL = { groups: 96, spaced: 768, lines: 2048 };

/** Where a text may be cut. The offsets are -1 where there is no such place. */
export interface CutPoints {
  /** The end of the last sentence or line that has ended. */
  sentence: number;
  /** The end of the last word that has ended. */
  word: number;
}

/** What limits the places at which a text may be cut. */
export interface CutLimits {
  /** No cut is at this offset or before it. */
  from: number;
  /** No cut is behind this offset. The text goes on behind it, and tells whether a sentence has ended. */
  limit: number;
  /** Whether ends of lines count as ends of sentences. */
  lines: boolean;
  /** Returns where something begins that has not ended at an offset; undefined where nothing has. */
  openFrom(end: number): number | undefined;
}

/** Finds the last places where a text may be cut. */
export async function cutPointsIn(
  text: string,
  { from, limit, lines, openFrom }: CutLimits,
  abortable?: Abortable,
): Promise<CutPoints> {
  if (limit <= from) return { sentence: -1, word: -1 };
  const read = text.slice(from, Math.min(text.length, limit + 64));
  const sentences = ENDS.test(read) ? await splitSentences(read, abortable) : [];
  // The last sentence may go on.
  const ends = sentences.slice(0, -1).map(({ end }) => from + end);
  const sentenceEnd = (bound: number) => {
    while (ends.length > 0 && (ends.at(-1) as number) > bound) ends.pop();
    return Math.max(ends.at(-1) ?? -1, lines && bound > 0 ? text.lastIndexOf("\n", bound - 1) + 1 : -1);
  };
  /** Goes back to a place at which nothing is open. */
  const closed = (find: (bound: number) => number): number => {
    let at = find(limit);
    while (at > from) {
      const open = openFrom(at);
      if (open === undefined) return at;
      at = find(Math.min(open, at - 1));
    }
    return -1;
  };
  return { sentence: closed(sentenceEnd), word: closed((bound) => lastWordEnd(text, from, bound)) };
}

/** Returns the last offset within `from < offset <= limit` at which a word has ended; -1 when there is none. */
export function lastWordEnd(text: string, from: number, limit: number): number {
  for (let at = Math.min(limit, text.length); at > from; at--) if (isWordEnd(text, at)) return at;
  return -1;
}

function isWordEnd(text: string, at: number): boolean {
  const before = characterBefore(text, at);
  if (/\s/.test(before)) return false;
  const after = characterAt(text, at);
  if (/\s/.test(after)) return true;
  return (
    isSpacelessScript(before) && after !== "" && !isSurrogate(after) && !JOINED.test(after) && isSpacelessOrWord(after)
  );
}

function isSpacelessOrWord(character: string): boolean {
  return isSpacelessScript(character) || /[\p{L}\p{N}\p{P}]/u.test(character);
}

function isSurrogate(character: string): boolean {
  return /^[\ud800-\udfff]$/.test(character);
}

/** How much text around an offset is read to find its character. The longest emoji have some thirty units. */
const CHARACTER = 64;
/** Made when it is first needed: that takes a tenth of the time in which all of guard is imported. */
let characters: Intl.Segmenter | undefined;

/**
 * Returns the offset, or one before it where it stands within a character as users see it (UAX #29): between the two halves of a surrogate
 * pair, or beside a joiner or a mark, which shows only together with what it joins. At the end of the text a joiner may go on.
 */
export function wholeCharacters(text: string, at: number): number {
  const isHalf = (at: number) => /[\ud800-\udbff]/.test(text.charAt(at - 1));
  const end = isHalf(at) ? at - 1 : at;
  // The other half of the last character may be still to come.
  const known = isHalf(text.length) ? text.length - 1 : text.length;
  const after = end < known ? String.fromCodePoint(text.codePointAt(end) as number) : "";
  if (!/\p{Cf}/u.test(characterBefore(text, end)) && !JOINED.test(after)) return end;
  const start = Math.max(0, end - CHARACTER);
  characters ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const read = characters.segment(text.slice(start, Math.min(known, end + CHARACTER)));
  const { index = 0 } = read.containing(end >= known ? end - start - 1 : end - start) ?? {};
  // A character of this length is one of marks without end.
  return index === 0 ? end : start + index;
}

/**
 * Returns where something begins at the end of a text that may go on: a number in groups, letters that stand one by one, lines of
 * base64. It is the length of the text where nothing does.
 *
 * @param from nothing before this offset counts.
 */
export function unfinishedFrom(text: string, from: number): number {
  const starts = [text.length];
  const look = (pattern: RegExp, length: number, counts = (_: string) => true) => {
    const start = Math.max(from, text.length - length);
    const found = pattern.exec(text.slice(start));
    if (found && counts(found[0])) starts.push(start + found.index);
  };
  look(GROUPS, TAIL.groups, (groups) => /\p{N}/u.test(groups));
  look(SPACED, TAIL.spaced);
  look(LINES, TAIL.lines);
  return Math.min(...starts);
}

/** A line that begins or ends a block of code (CommonMark 0.31, fenced code blocks). */
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/**
 * Returns the line that began the block of code in which a text ends; undefined where it ends in none.
 *
 * @param open the line that began the block in which the text begins.
 */
export function openFence(text: string, open?: string): string | undefined {
  let current = open;
  for (const line of text.split("\n")) {
    const [, marks = "", info = ""] = FENCE.exec(line) ?? [];
    if (marks === "") continue;
    if (current === undefined) {
      if (!(marks.startsWith("`") && info.includes("`"))) current = line;
    } else {
      const [, begun = ""] = FENCE.exec(current) ?? [];
      if (marks.startsWith(begun) && info.trim() === "") current = undefined;
    }
  }
  return current;
}
