import { hasSeveralWords } from "../../text/characters.ts";

/** Matches a line that begins or ends a fenced code block (CommonMark 0.31). */
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm;
/** Match a link or an image of Markdown, and a tag, without its end. */
const MARKDOWN = /!?\[[^\]\n]{0,1000}(?:\](?:\([^)\n]{0,4000})?)?$/;
const TAG = /<[a-z!/][^<>]{0,4000}$/i;
/**
 * Matches the beginning of a private key or a certificate, and the headers and long base64 words after it (RFC 7468, and RFC 9580 for
 * OpenPGP keys). In string literals, line breaks are escaped. A text that only mentions the first line continues differently.
 */
const KEY =
  /-----BEGIN[^\n-]{0,80}(?:-{0,5}$|-----(?:\s+(?!\s)|[A-Za-z0-9+/=\\]{16,}(?![A-Za-z0-9+/=\\])|[A-Z][A-Za-z-]{2,30}: [^\n]{0,120}\n)*(?:[A-Za-z0-9+/=\\]{0,15}\s*|[A-Z][A-Za-z-]{2,30}: [^\n]{0,120})(?:-{1,5}|-----E[A-Z ]{0,80}-{0,4})?$)/;
/** Matches a quoted value without its end, after a colon or an equals sign. */
const QUOTED = /[:=]\s{0,4}["'`][^"'`\n]{0,256}$/;
/** Matches a name with a colon or an equals sign at the end, whose value is in the next line. */
const ASSIGNED = /[\p{L}\p{N}_"'\]-]{1,64}\s{0,4}(?::|=|:=|=>)\s{0,8}$/u;

/** Returns the offset of a code block that has not ended. */
export function unclosedBlock(text: string): number | undefined {
  let open: { marks: string; at: number } | undefined;
  for (const { 1: marks = "", 2: info = "", index } of text.matchAll(FENCE)) {
    if (!open) {
      if (!(marks.startsWith("`") && info.includes("`"))) open = { marks, at: index };
    } else if (marks.startsWith(open.marks) && info.trim() === "" && index + marks.length < text.length) {
      open = undefined;
    }
  }
  return open?.at;
}

/** Returns the offset of a link, an image or a tag that has not ended. */
export function unclosedLink(text: string): number | undefined {
  const starts = [MARKDOWN, TAG].flatMap((pattern) => pattern.exec(text.slice(-8192))?.index ?? []);
  return starts.length === 0 ? undefined : Math.max(0, text.length - 8192) + Math.min(...starts);
}

/** Returns the offset of a private key or an assigned secret that has not ended. */
export function unclosedSecret(text: string): number | undefined {
  const begins = text.lastIndexOf("-----BEGIN");
  if (begins >= 0 && KEY.test(text.slice(begins))) return begins;
  const tail = text.slice(-400);
  const starts = [QUOTED, ASSIGNED].flatMap((pattern) => pattern.exec(tail)?.index ?? []);
  return starts.length === 0 ? undefined : text.length - tail.length + Math.min(...starts);
}

/**
 * Returns the most UTF-16 code units that one of the texts can have in a streamed answer, if white space may be between its letters. It is
 * 0 if all of them are single words, because a stream holds words back until they end.
 */
export function longestOf(texts: readonly string[], deobfuscate = false): number {
  // A stream may contain the decomposed spelling, which is longer.
  const lengthOf = (text: string) => text.normalize("NFD").length;
  const lengths = texts.map((text) => (deobfuscate || hasSeveralWords(text) ? lengthOf(text) : 0));
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  return longest === 0 ? 0 : (deobfuscate ? 3 : 1) * longest + 8;
}

/** The longest match that is held back as a whole if its length is unknown. */
const MAX_UNKNOWN_MATCH = 128;
/** Matches escapes that match no white space: of characters, classes and boundaries. */
const ESCAPES = /\\[dwSbB.\-+*?()[\]{}|/^$@:#"'=,;!&%~<>_`]/g;
/** Matches classes of visible ASCII characters, which contain no white space. */
const CLASSES = /\[(?!\^)[!-[\]-~]+?\]/g;

/**
 * Returns the most UTF-16 code units of a match with white space. It is 0 if no match contains white space, and the length of the pattern
 * if nothing in it repeats.
 */
export function longestMatch(pattern: string): number {
  const plain = pattern.replace(ESCAPES, "a").replace(CLASSES, "a");
  if (/^[!-~]*$/.test(plain) && !/[.\\[]/.test(plain)) return 0;
  return /[.*+{\\[]/.test(plain) ? MAX_UNKNOWN_MATCH : plain.length;
}
