/** A token: a word, a quoted literal, a line break, or any other single character except spaces. */
export interface Token {
  kind: "word" | "literal" | "mark" | "break";
  /** The word or mark as written, or the content of a literal without quotes and escapes. */
  text: string;
  /** The range in the text, in UTF-16 code units. The range of a literal includes its quotes. */
  start: number;
  end: number;
}

/** Opening quotes with their closing quotes. */
const QUOTES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["`", "`"],
  ["“", "”"],
  ["„", "“”"],
  ["‘", "’"],
  ["«", "»"],
  ["「", "」"],
  ["『", "』"],
]);

const BLANK = /[^\S\n]+/uy;

/**
 * A word or identifier. Chinese and Japanese have no spaces, so each of their letters is a word: in `X是` the variable ends before the
 * verb. The `t` of `don't` is not a word.
 */
const WORD =
  /(?:(?![\p{sc=Han}\p{sc=Hira}\p{sc=Kana}])[\p{L}_$])(?:(?![\p{sc=Han}\p{sc=Hira}\p{sc=Kana}])[\p{L}\p{M}\p{N}_])*(?:['’]\p{L}{1,2}(?![\p{L}'’]))?|[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+|\p{N}+/uy;

/** The escape sequences of most programming languages. Any other escaped character stands for itself. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/** Splits a text into tokens in linear time. A literal ends at the end of its line at the latest. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  /** For each quote, the end of the line in which it has no closing partner, so that no line is searched twice. */
  const unclosed = new Map<string, number>();
  let at = 0;
  while (at < text.length) {
    const char = text[at] as string;
    const start = at;
    if (char === "\n") {
      at += 1;
      tokens.push({ kind: "break", text: char, start, end: at });
      continue;
    }
    BLANK.lastIndex = at;
    if (BLANK.test(text)) {
      at = BLANK.lastIndex;
      continue;
    }
    const closing = QUOTES.get(char);
    if (closing && at >= (unclosed.get(char) ?? 0) && !isApostrophe(text, at)) {
      const end = endOfLiteral(text, at, closing);
      if (end.found) {
        at = end.at + 1;
        const content = text.slice(start + 1, end.at);
        // French has spaces inside its quotes.
        const literal = char === "«" ? content.trim() : unescaped(content);
        tokens.push({ kind: "literal", text: literal, start, end: at });
        continue;
      }
      unclosed.set(char, end.at);
    }
    WORD.lastIndex = at;
    const word = WORD.exec(text)?.[0];
    if (word) {
      at += word.length;
      tokens.push({ kind: "word", text: word, start, end: at });
    } else {
      at += 1;
      tokens.push({ kind: "mark", text: char, start, end: at });
    }
  }
  return tokens;
}

/** Returns the offset of the closing quote, or of the end of the line without one. */
function endOfLiteral(text: string, opening: number, closing: string): { found: boolean; at: number } {
  let at = opening + 1;
  for (; at < text.length && text[at] !== "\n"; at += 1) {
    if (text[at] === "\\" && text[at + 1] !== "\n") at += 1;
    else if (closing.includes(text[at] as string) && !(closing === "'" && isLetter(text[at + 1]))) {
      return { found: true, at };
    }
  }
  return { found: false, at };
}

/** Whether a quote is inside a word. After a single letter, as in `f'…'` or `b'…'`, it opens a Python literal. */
function isApostrophe(text: string, at: number): boolean {
  return text[at] === "'" && isLetter(text[at - 1]) && !/(?<!\p{L})[bfru]$/iu.test(text.slice(Math.max(0, at - 2), at));
}

function unescaped(literal: string): string {
  return literal.includes("\\") ? literal.replace(/\\(.)/gsu, (_, char: string) => ESCAPES.get(char) ?? char) : literal;
}

function isLetter(char: string | undefined): boolean {
  return char !== undefined && /\p{L}/u.test(char);
}
