import { hasSeveralWords } from "../../text/characters.ts";

/** A line that begins or ends a block of code (CommonMark 0.31, fenced code blocks). */
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm;
/** A link or an image of Markdown, or a tag, whose end is missing. */
const MARKDOWN = /!?\[[^\]\n]{0,1000}(?:\](?:\([^)\n]{0,4000})?)?$/;
const TAG = /<[a-z!/][^<>]{0,4000}$/i;
/**
 * The beginning of a private key or a certificate and what follows it in one: headers and long words of base64 (RFC 7468, and RFC 9580
 * for keys of OpenPGP). In strings of programs line breaks are escaped. A text that only mentions the first line goes on otherwise.
 */
const KEY =
  /-----BEGIN[^\n-]{0,80}(?:-{0,5}$|-----(?:\s+(?!\s)|[A-Za-z0-9+/=\\]{16,}(?![A-Za-z0-9+/=\\])|[A-Z][A-Za-z-]{2,30}: [^\n]{0,120}\n)*(?:[A-Za-z0-9+/=\\]{0,15}\s*|[A-Z][A-Za-z-]{2,30}: [^\n]{0,120})(?:-{1,5}|-----E[A-Z ]{0,80}-{0,4})?$)/;
/** A value in quotes whose end is missing, behind a colon or an equals sign. */
const QUOTED = /[:=]\s{0,4}["'`][^"'`\n]{0,256}$/;
/** A name and a colon or an equals sign at the end, the value of which is in the next line. */
const ASSIGNED = /[\p{L}\p{N}_"'\]-]{1,64}\s{0,4}(?::|=|:=|=>)\s{0,8}$/u;

/** Returns where a block of code begins that has not ended. */
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

/** Returns where a link, an image or a tag begins that has not ended. */
export function unclosedLink(text: string): number | undefined {
  const starts = [MARKDOWN, TAG].flatMap((pattern) => pattern.exec(text.slice(-8192))?.index ?? []);
  return starts.length === 0 ? undefined : Math.max(0, text.length - 8192) + Math.min(...starts);
}

/** Returns where a private key or a secret behind an equals sign begins that has not ended. */
export function unclosedSecret(text: string): number | undefined {
  const begins = text.lastIndexOf("-----BEGIN");
  if (begins >= 0 && KEY.test(text.slice(begins))) return begins;
  const tail = text.slice(-400);
  const starts = [QUOTED, ASSIGNED].flatMap((pattern) => pattern.exec(tail)?.index ?? []);
  return starts.length === 0 ? undefined : text.length - tail.length + Math.min(...starts);
}

/**
 * Returns the length that the longest of some texts may have in an answer, where white space may stand between its letters. It is 0
 * where all of them are single words: words are held until they end in any case.
 */
export function longestOf(texts: readonly string[], deobfuscate = false): number {
  const lengths = texts.map((text) => (deobfuscate || hasSeveralWords(text) ? text.length : 0));
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  return longest === 0 ? 0 : (deobfuscate ? 3 : 1) * longest + 8;
}

/** The longest match of a pattern that is held as a whole where its length is not known. */
const LONGEST_MATCH = 128;
/** Escapes that match no white space: of characters, and of classes and borders without any. */
const ESCAPES = /\\[dwSbB.\-+*?()[\]{}|/^$@:#"'=,;!&%~<>_`]/g;
/** Classes of ASCII characters that have no white space, since the space is before all other characters that are shown. */
const CLASSES = /\[(?!\^)[!-[\]-~]+?\]/g;

/**
 * Returns how long a match of a pattern may be that has white space in it. It is 0 where no match has any, and the length of the pattern
 * where nothing of it is repeated.
 */
export function longestMatch(pattern: string): number {
  const plain = pattern.replace(ESCAPES, "a").replace(CLASSES, "a");
  if (/^[!-~]*$/.test(plain) && !/[.\\[]/.test(plain)) return 0;
  return /[.*+{\\[]/.test(plain) ? LONGEST_MATCH : plain.length;
}
