/** A format that escapes characters of a text. */
interface Escaping {
  /** Matches a text that may contain an escape of the format. */
  hint: RegExp;
  /** Returns the spellings of a text in the format. */
  spellings(text: string): string[];
  /** Writes a text in the format. */
  write(text: string): string;
  isJson?: boolean;
}

/** A text as a format writes it. */
export interface EscapedSpelling {
  spelling: string;
  /** Writes another text in the same format. */
  write(text: string): string;
  /** Whether the format is that of JSON strings. */
  isJson: boolean;
}

/** Characters that programs escape, though not all of them always: punctuation other than `_`, `-`, `.` and white space. */
const MARKS = /[^\p{L}\p{M}\p{N}\s_.-]/gu;
/** Characters that have a meaning in Markdown (CommonMark 0.31, section 2.4). */
const MARKDOWN = /[[\]_*<>`~#]/g;

const codeOf = (character: string) => character.codePointAt(0) as number;
const hexOf = (character: string) => character.charCodeAt(0).toString(16).padStart(4, "0");

/** Writes a text in HTML, so that it is safe in texts and attributes. */
function inHtml(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => names[character] as string);
}

/** Writes a text in a URL. Half a surrogate pair cannot be written in one, and stays. */
function inUrl(text: string): string {
  return /\p{Surrogate}/u.test(text) ? text : encodeURIComponent(text);
}

/** Returns a text as it is written inside a JSON string, with escaped quotes and line breaks. */
export function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Writes a text with character references that HTML has only for brackets. */
function withBrackets(text: string, open: string, close: string): string {
  return inHtml(text).replaceAll("[", open).replaceAll("]", close);
}

const FORMATS: readonly Escaping[] = [
  {
    hint: /\\[[\]_*<>`~#]/,
    spellings: (text) => [
      text.replace(MARKDOWN, "\\$&"),
      text.replace(/_/g, "\\_"),
      text.replace(/[[\]]/g, "\\$&"),
      text.replace(/[[_]/g, "\\$&"),
    ],
    write: (text) => text,
  },
  {
    hint: /&(?:#|[a-z])/i,
    spellings: (text) => [
      inHtml(text),
      withBrackets(text, "&lsqb;", "&rsqb;"),
      withBrackets(text, "&lbrack;", "&rbrack;"),
      text.replace(MARKS, (character) => `&#${codeOf(character)};`),
      text.replace(MARKS, (character) => `&#x${codeOf(character).toString(16)};`),
      text.replace(MARKS, (character) => `&#x${codeOf(character).toString(16).toUpperCase()};`),
    ],
    write: inHtml,
  },
  {
    hint: /%[0-9a-f]{2}/i,
    spellings: (text) => {
      const encoded = inUrl(text);
      const lower = encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
      return [encoded, lower, encoded.replaceAll("%20", "+"), encoded.replaceAll("_", "%5F")];
    },
    write: inUrl,
  },
  {
    hint: /\\u00[0-9a-f]{2}/i,
    spellings: (text) => [
      text.replace(MARKS, (character) => `\\u${hexOf(character)}`),
      text.replace(MARKS, (character) => `\\u${hexOf(character).toUpperCase()}`),
    ],
    write: inJson,
    isJson: true,
  },
];

/** Returns a function that spells texts in the formats of which `text` may contain escapes, or undefined if there are none. */
export function escapedSpellings(text: string): ((of: string) => EscapedSpelling[]) | undefined {
  const formats = FORMATS.filter(({ hint }) => hint.test(text));
  if (formats.length === 0) return undefined;
  return (of) =>
    formats.flatMap(({ spellings, write, isJson = false }) =>
      [...new Set(spellings(of))].flatMap((spelling) => (spelling === of ? [] : [{ spelling, write, isJson }])),
    );
}
