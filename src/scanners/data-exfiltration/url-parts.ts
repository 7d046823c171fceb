/** A part of a URL that can carry data. */
export interface UrlPart {
  where: "user name" | "subdomain" | "path" | "query" | "fragment";
  /** The text, with percent-encoding undone. */
  text: string;
  /** Texts that it says when base64, hexadecimal digits or base32 are undone. */
  decoded: string[];
  /** Whether it is the name of an image file. */
  isFileName: boolean;
  /** Whether it is several parts put together, which are no text that somebody wrote. */
  isJoined: boolean;
}

/** The fewest characters of an encoded text: shorter ones are ids. */
const SHORTEST_ENCODED = 12;
/** The most characters of a part that are looked at. */
const LONGEST_PART = 16_384;
const IMAGE_FILE = /\.(?:png|jpe?g|gif|webp|svg|avif|bmp|ico|tiff?|heic)$/i;

/**
 * Returns the parts of a URL that have something to read.
 *
 * @param written the URL as it was written: its host may have capitals, which base64 needs.
 * @param domain the registrable domain of its host, or an empty text where it has none, such as an IP address.
 */
export function urlParts(url: URL, written: string, domain: string): UrlPart[] {
  const parts: UrlPart[] = [];
  const add = (where: UrlPart["where"], raw: string, isFileName = false, isJoined = false) => {
    const text = percentDecoded(raw.slice(0, LONGEST_PART));
    if (text !== "") parts.push({ where, text, decoded: decodings(text), isFileName, isJoined });
  };
  add("user name", [url.username, url.password].filter(Boolean).join(" "));
  const labels = url.hostname.length - domain.length - 1;
  if (domain !== "" && labels > 0) {
    const from = written.toLowerCase().indexOf(url.hostname);
    const subdomain = from < 0 ? url.hostname.slice(0, labels) : written.slice(from, from + labels);
    add("subdomain", subdomain);
    if (subdomain.includes(".")) add("subdomain", subdomain.replaceAll(".", ""));
  }
  const segments = url.pathname.split("/").filter(Boolean);
  for (const segment of segments) add("path", segment, IMAGE_FILE.test(segment));
  // Data may be cut into segments: as words, and as pieces of one encoded text.
  if (segments.length > 1) {
    add("path", segments.join(" "), IMAGE_FILE.test(url.pathname), true);
    add("path", segments.join(""), IMAGE_FILE.test(url.pathname), true);
  }
  for (const pair of url.search.slice(1).split("&")) {
    const equals = pair.indexOf("=");
    if (equals > 0) add("query", pair.slice(0, equals));
    add("query", pair.slice(equals + 1).replaceAll("+", "%20"));
    // Base64 has a plus of its own.
    if (pair.includes("+")) add("query", pair.slice(equals + 1));
  }
  const values = url.search
    .slice(1)
    .split("&")
    .map((pair) => pair.slice(pair.indexOf("=") + 1));
  if (values.length > 1) {
    add("query", values.join(" ").replaceAll("+", " "), false, true);
    add("query", values.join(""), false, true);
  }
  add("fragment", url.hash.slice(1));
  return parts;
}

function percentDecoded(text: string): string {
  let result = text;
  // Twice: the data may be a URL with an encoded query itself.
  for (let round = 0; round < 2 && result.includes("%"); round += 1) {
    try {
      result = decodeURIComponent(result);
    } catch {
      break;
    }
  }
  return result;
}

/** What a text says when encodings are undone, where that is readable. */
function decodings(text: string): string[] {
  const found = new Set<string>();
  for (const value of new Set([text, text.replace(IMAGE_FILE, "")])) {
    // JSON web tokens and signed values are several encoded texts with points or dashes between them.
    for (const piece of new Set([value, ...value.split(".")])) {
      if (piece.length < SHORTEST_ENCODED) continue;
      if (/^[\w+/-]+={0,2}$/.test(piece)) found.add(readable(Buffer.from(piece, "base64")));
      if (/^(?:[0-9a-f]{2})+$/i.test(piece)) found.add(readable(Buffer.from(piece, "hex")));
      if (/^[a-z2-7]+={0,6}$/i.test(piece)) found.add(readable(base32(piece)));
    }
  }
  found.delete("");
  return [...found];
}

/** Base32 as RFC 4648 defines it, in either case: hosts have no capitals. */
function base32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of text.toUpperCase().replace(/=+$/, "")) {
    value = ((value << 5) | "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(character)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}

/** Returns bytes as a text, or an empty one for what nobody can read: hashes, signatures and other random bytes. */
export function readable(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return "";
  }
  return /[^\P{C}\s]/u.test(text) || !/[\p{L}\p{N}]/u.test(text) ? "" : text;
}

/** How many words a text has. A character of a script without spaces between words counts as half a word. */
export function wordsIn(text: string): number {
  const unspaced = text.match(
    /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu,
  );
  const spaced = text.split(/[\s_+,;|-]+/).filter((word) => /\p{L}{2}/u.test(word));
  return spaced.length + Math.floor((unspaced?.length ?? 0) / 2);
}

/**
 * Whether a decoded text is one for people. Tokens, policies of signed URLs and ids of objects are JSON, URLs or single words, which
 * ordinary images have in their URLs.
 */
export function isProse(text: string): boolean {
  if (/\S@[\w-]+\.[a-z]{2}/i.test(text)) return true;
  const trimmed = text.trim();
  if (/^(?:[{[]|https?:\/\/|[a-z]+:\/\/|<)/i.test(trimmed)) {
    return trimmed.split(/["'<>]/).some((string) => string.trim().split(/\s+/).length >= 6);
  }
  const spaced = text.split(/\s+/).filter((word) => /\p{L}{2}/u.test(word)).length;
  return wordsIn(text) >= (spaced >= 3 || /\p{Lo}/u.test(text) ? 3 : 6);
}

/** Words for the data of a conversation, of which a template says that they are to be filled in. */
const DATA = new Set(
  "data conversation conversations chat history summary secret secrets password passwords credentials context transcript".split(
    " ",
  ),
);
/** Words that templates of ordinary links have as well. */
const MORE_DATA = new Set(
  "content message messages prompt payload info information base64 encoded answer email emails input text token".split(
    " ",
  ),
);

/** Whether a text has a placeholder for data: `{DATA}`, `[CONVERSATION]`, `<summary>`. */
export function hasPlaceholder(text: string, isStrict: boolean): boolean {
  for (const { index, 0: all, 1: name = "" } of text.matchAll(/[{[<]{1,2}([\p{L}\p{N}_ -]{2,60})[}\]>]{1,2}/gu)) {
    // `filter[data]=1` is an ordinary parameter.
    if (all.startsWith("[") && /\w/.test(text[index - 1] ?? "")) continue;
    const words = name.toLowerCase().split(/[\s_-]+/);
    if (words.some((word) => DATA.has(word) || (isStrict && MORE_DATA.has(word)))) return true;
  }
  return false;
}
