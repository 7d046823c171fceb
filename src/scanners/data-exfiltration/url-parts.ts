/** A part of a URL that can carry data. */
export interface UrlPart {
  where: "user name" | "subdomain" | "path" | "query" | "fragment";
  /** The text, percent-decoded. */
  text: string;
  /** The texts that base64, hexadecimal digits or base32 decode to. */
  decoded: string[];
  /** Whether the part is the name of an image file. */
  isFileName: boolean;
  /** Whether several parts were joined, so that nobody wrote this text. */
  isJoined: boolean;
}

/** The fewest characters of an encoded text. Shorter ones are ids. */
const MIN_ENCODED_LENGTH = 12;
/** The most characters of a part that are read. */
const MAX_PART_LENGTH = 16_384;
const IMAGE_FILE = /\.(?:png|jpe?g|gif|webp|svg|avif|bmp|ico|tiff?|heic)$/i;

/**
 * Returns the parts of a URL that are not empty.
 *
 * @param written the URL as written. Its host may have capitals, which base64 needs.
 * @param domain the registrable domain of the host, or an empty text if there is none, as for an IP address.
 */
export function urlParts(url: URL, written: string, domain: string): UrlPart[] {
  const parts: UrlPart[] = [];
  const add = (where: UrlPart["where"], raw: string, isFileName = false, isJoined = false) => {
    const text = percentDecoded(raw.slice(0, MAX_PART_LENGTH));
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
  // Data may be split over segments: as words, or as pieces of one encoded text.
  if (segments.length > 1) {
    add("path", segments.join(" "), IMAGE_FILE.test(url.pathname), true);
    add("path", segments.join(""), IMAGE_FILE.test(url.pathname), true);
  }
  for (const pair of url.search.slice(1).split("&")) {
    const equals = pair.indexOf("=");
    if (equals > 0) add("query", pair.slice(0, equals));
    add("query", pair.slice(equals + 1).replaceAll("+", "%20"));
    // In base64, a plus is a digit.
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
  // Twice, because the data may be a URL with an encoded query.
  for (let round = 0; round < 2 && result.includes("%"); round += 1) {
    try {
      result = decodeURIComponent(result);
    } catch {
      break;
    }
  }
  return result;
}

/** Returns the readable texts that a text decodes to. */
function decodings(text: string): string[] {
  const found = new Set<string>();
  for (const value of new Set([text, text.replace(IMAGE_FILE, "")])) {
    // JSON web tokens and signed values are several encoded texts, separated by points.
    for (const piece of new Set([value, ...value.split(".")])) {
      if (piece.length < MIN_ENCODED_LENGTH) continue;
      if (/^[\w+/-]+={0,2}$/.test(piece)) found.add(decodeReadable(Buffer.from(piece, "base64")));
      if (/^(?:[0-9a-f]{2})+$/i.test(piece)) found.add(decodeReadable(Buffer.from(piece, "hex")));
      if (/^[a-z2-7]+={0,6}$/i.test(piece)) found.add(decodeReadable(base32(piece)));
    }
  }
  found.delete("");
  return [...found];
}

/** Decodes base32 (RFC 4648) in either case, because hosts have no capitals. */
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

/** Decodes UTF-8. It returns an empty text for bytes that nobody can read: hashes, signatures and other random bytes. */
export function decodeReadable(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return "";
  }
  return /[^\P{C}\s]/u.test(text) || !/[\p{L}\p{N}]/u.test(text) ? "" : text;
}

/** Counts the words of a text. A character of a script without spaces between words counts as half a word. */
export function wordsIn(text: string): number {
  const unspaced = text.match(
    /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu,
  );
  const spaced = text.split(/[\s_+,;|-]+/).filter((word) => /\p{L}{2}/u.test(word));
  return spaced.length + Math.floor((unspaced?.length ?? 0) / 2);
}

/**
 * Whether a decoded text is written for people. URLs of ordinary images contain tokens, policies of signed URLs and ids, which are JSON,
 * URLs or single words.
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

/** Words for the data of a conversation, in placeholders. */
const DATA = new Set(
  "data conversation conversations chat history summary secret secrets password passwords credentials context transcript".split(
    " ",
  ),
);
/** Words that placeholders of ordinary links contain as well. */
const MORE_DATA = new Set(
  "content message messages prompt payload info information base64 encoded answer email emails input text token".split(
    " ",
  ),
);

/**
 * Whether a text has a placeholder for data: `{DATA}`, `[CONVERSATION]`, `<summary>`.
 *
 * @param isStrict whether words of ordinary links count too.
 */
export function hasPlaceholder(text: string, isStrict: boolean): boolean {
  for (const { index, 0: all, 1: name = "" } of text.matchAll(/[{[<]{1,2}([\p{L}\p{N}_ -]{2,60})[}\]>]{1,2}/gu)) {
    // `filter[data]=1` is an ordinary parameter.
    if (all.startsWith("[") && /\w/.test(text[index - 1] ?? "")) continue;
    const words = name.toLowerCase().split(/[\s_-]+/);
    if (words.some((word) => DATA.has(word) || (isStrict && MORE_DATA.has(word)))) return true;
  }
  return false;
}
