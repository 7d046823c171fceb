import type { Abortable } from "../native.ts";
import { characterAt, characterBefore, characterSegmenter, isSpacelessScript } from "../text/characters.ts";
import { splitSentences } from "../text/sentences.ts";

/** Characters that continue the previous character: combining marks, joiners, variation selectors, emoji modifiers. */
const JOINED = /[\p{M}\p{Cf}\p{Emoji_Modifier}]/u;
/** Characters that end or may end a sentence (UAX #44, property Sentence_Terminal). This cheap search precedes the exact one. */
const ENDS = /[\p{Sentence_Terminal}…\n\r\u2028\u2029]/u;
/**
 * The end of a text that may continue as a number in groups: of a card, a telephone, an account. Each group matches in one way only, so
 * that the time does not grow exponentially.
 */
const GROUPS = /(?:(?<=[^\p{L}\p{N}]|^)\+?[\p{N}A-Z()/.-]{1,13}[ \t\u00a0\u202f]){1,12}\+?[\p{N}A-Z()/.-]{0,13}$/u;
/** The end of a text with spaces between all letters. */
const SPACED = /(?:(?<=\s|^)\S{1,2}\s){4,512}\S{0,2}$/u;
/** The end of a text that consists of lines with one long word each, like base64. */
const LINES = /(?<=\n|^)(?:[ \t]*\S{32,}[ \t]*\r?\n)+[ \t]*\S*$/u;
/** The maximum characters at the end of a text that these patterns read. */
const TAIL = { groups: 96, spaced: 768, lines: 2048 };

/** The last offsets at which a text may be cut, or -1. */
export interface CutPoints {
  /** The end of the last complete sentence or line. */
  sentence: number;
  /** The end of the last complete word. */
  word: number;
}

/** The limits of cut points. */
export interface CutLimits {
  /** Cuts are after this offset. */
  from: number;
  /** Cuts are at this offset or before it. The text after it shows whether a sentence has ended. */
  limit: number;
  /** Whether ends of lines count as ends of sentences. */
  lines: boolean;
  /** Returns the start of an open span at an offset, or undefined. */
  openFrom(end: number): number | undefined;
}

/** Finds the last cut points of a text. */
export async function cutPointsIn(
  text: string,
  { from, limit, lines, openFrom }: CutLimits,
  abortable?: Abortable,
): Promise<CutPoints> {
  if (limit <= from) return { sentence: -1, word: -1 };
  const read = text.slice(from, Math.min(text.length, limit + 64));
  const sentences = ENDS.test(read) ? await splitSentences(read, abortable) : [];
  // The last sentence may continue.
  const ends = sentences.slice(0, -1).map(({ end }) => from + end);
  const sentenceEnd = (bound: number) => {
    while (ends.length > 0 && (ends.at(-1) as number) > bound) ends.pop();
    return Math.max(ends.at(-1) ?? -1, lines && bound > 0 ? text.lastIndexOf("\n", bound - 1) + 1 : -1);
  };
  /** Moves a cut point back until no span is open at it. */
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

/** Returns the last offset within `from < offset <= limit` at which a word ends, or -1. */
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

/** The maximum characters around an offset that are read to find its character. The longest emoji have about thirty units. */
const CHARACTER = 64;

/**
 * Returns the offset, or an earlier one if the offset is within a user-perceived character (UAX #29): between the two halves of a surrogate
 * pair, or beside a joiner or a mark. At the end of the text a joiner may continue the character.
 */
export function wholeCharacters(text: string, at: number): number {
  const isHalf = (at: number) => /[\ud800-\udbff]/.test(text.charAt(at - 1));
  const end = isHalf(at) ? at - 1 : at;
  // The other half of the last character may still arrive.
  const known = isHalf(text.length) ? text.length - 1 : text.length;
  const after = end < known ? String.fromCodePoint(text.codePointAt(end) as number) : "";
  if (!/\p{Cf}/u.test(characterBefore(text, end)) && !JOINED.test(after)) return end;
  const start = Math.max(0, end - CHARACTER);
  const read = characterSegmenter().segment(text.slice(start, Math.min(known, end + CHARACTER)));
  const { index = 0 } = read.containing(end >= known ? end - start - 1 : end - start) ?? {};
  // A longer character consists of an endless sequence of marks.
  return index === 0 ? end : start + index;
}

/**
 * Returns the start of an unfinished sequence at the end of a text: a number in groups, spaced letters, or lines of base64. Without one it
 * returns the length of the text.
 *
 * @param from the minimum start.
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
 * Returns the opening line of the code block in which a text ends, or undefined outside of code blocks.
 *
 * @param open the opening line of the code block in which the text begins.
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
