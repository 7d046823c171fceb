/** A text file, as the programs that receive it may read it. */
export interface TextFile {
  /** The texts, with the most likely one first. There are several if the bytes are text in several charsets. */
  readings: readonly Reading[];
  /** Whether some bytes are text in no charset that has a decoder. */
  isPartial: boolean;
}

/** A text of a file. */
export interface Reading {
  text: string;
  /** Encodes another text as the request contains this one. */
  encode(text: string): string;
}

/** Textual media types whose name does not begin with `text/`. */
const TEXT_TYPES =
  /^application\/(?:(?:[\w.-]+\+)?(?:json|xml|yaml)|x-yaml|json5|x-ndjson|jsonl|x-jsonlines|csv|markdown|xhtml|html|javascript|ecmascript|x-javascript|typescript|x-sh|x-python|sql|toml|rtf|x-tex|x-latex|graphql|x-www-form-urlencoded)$|\+(?:xml|json|yaml)$|^message\//;

/** Media types that do not state the kind of file. */
const UNKNOWN_TYPES = new Set(["", "application/octet-stream", "binary/octet-stream", "application/x-binary"]);

/** The maximum number of charsets of a media type that are tried. Further charsets count as unreadable. */
const MAX_CHARSETS = 3;

/** White space inside a line. Base64 has none, but text does. */
const INNER_SPACE = /\S[ \t]+\S/;

/** The bytes of a file and what the request says about them. */
interface EncodedFile {
  bytes: Buffer;
  /** The media type without parameters, in lower case. */
  type: string;
  charsets: readonly string[];
}

/** How the request contains a text of a charset. */
type Encode = (charset: string, hasBom: boolean) => (text: string) => string;

/** Whether files of a media type are text, or may be if their bytes are. */
export function mayBeText(mediaType: string): boolean {
  const type = bareType(mediaType);
  return isTextType(type) || UNKNOWN_TYPES.has(type);
}

function isTextType(type: string): boolean {
  return type.startsWith("text/") || TEXT_TYPES.test(type);
}

/**
 * Decodes a text file from base64 or a data URL (RFC 2397). A file is text if its media type is textual, or if the type is unknown and the
 * bytes are text. The charset of the type is one opinion: bytes that are valid UTF-8 are read as UTF-8 too.
 *
 * @param mediaType the type from beside the data. The type in a data URL takes precedence.
 * @returns undefined for other files.
 */
export function decodeFile(data: string, mediaType = ""): TextFile | undefined {
  if (/^data:/i.test(data)) return decodeDataUrl(data, mediaType);
  const type = bareType(mediaType);
  const { bytes, isAmbiguous } = decodeBase64(data);
  const encode: Encode = (charset, hasBom) => (text) =>
    encodeText(hasBom ? `\ufeff${text}` : text, charset).toString("base64");
  const file = decodeBytes({ bytes, type, charsets: charsetsOf(mediaType) }, encode, isAmbiguous);
  if (!INNER_SPACE.test(data) || !mayBeText(type)) return file;
  // Some servers take the text itself.
  const { readings = [] } = file ?? {};
  return { readings: [{ text: data, encode: (text) => text }, ...readings], isPartial: file?.isPartial ?? false };
}

function decodeDataUrl(data: string, mediaType: string): TextFile | undefined {
  const comma = data.indexOf(",");
  if (comma < 0) return;
  const [type = "", ...parameters] = data.slice("data:".length, comma).split(";");
  const isBase64 = parameters.at(-1)?.trim().toLowerCase() === "base64";
  const body = decodePercent(data.slice(comma + 1));
  const { bytes, isAmbiguous } = isBase64 ? decodeBase64(body.toString("latin1")) : { bytes: body, isAmbiguous: false };
  const kept = parameters.filter((parameter) => !/^\s*(?:base64\s*$|charset=)/i.test(parameter));
  const header = [type, ...kept, "charset=utf-8", "base64"].join(";");
  const charsets = [...charsetsOf([type, ...parameters].join(";")), ...charsetsOf(mediaType)];
  const encode: Encode = () => (text) => `data:${header},${Buffer.from(text).toString("base64")}`;
  // RFC 2397: a data URL without a type is text.
  return decodeBytes({ bytes, type: bareType(type || "text/plain"), charsets }, encode, isAmbiguous);
}

function bareType(mediaType: string): string {
  return (mediaType.split(";")[0] ?? "").trim().toLowerCase();
}

function charsetsOf(mediaType: string): string[] {
  return [...mediaType.matchAll(/;\s*charset\s*=\s*"?([^";\s]+)/gi)].map(([, charset]) => charset as string);
}

/** Decodes percent-encoded bytes. Other characters are UTF-8. */
function decodePercent(text: string): Buffer {
  if (!text.includes("%")) return Buffer.from(text);
  const bytes = Buffer.from(text);
  let end = 0;
  for (let at = 0; at < bytes.length; at++) {
    const escaped = bytes[at] === 0x25 ? bytes.toString("latin1", at + 1, at + 3) : "";
    if (/^[\da-f]{2}$/i.test(escaped)) {
      bytes[end++] = Number.parseInt(escaped, 16);
      at += 2;
    } else bytes[end++] = bytes[at] as number;
  }
  return bytes.subarray(0, end);
}

/** Decodes base64. Decoders differ about what follows a padding: all of it is decoded, and the result is ambiguous. */
function decodeBase64(text: string): { bytes: Buffer; isAmbiguous: boolean } {
  const padding = text.search(/=/);
  if (padding < 0 || !/[^=\s]/.test(text.slice(padding)))
    return { bytes: Buffer.from(text, "base64"), isAmbiguous: false };
  return { bytes: Buffer.concat(text.split(/=+/).map((piece) => Buffer.from(piece, "base64"))), isAmbiguous: true };
}

function encodeText(text: string, charset: string): Buffer {
  if (charset === "utf-16le") return Buffer.from(text, "utf16le");
  return charset === "utf-16be" ? Buffer.from(text, "utf16le").swap16() : Buffer.from(text);
}

function decodeBytes(file: EncodedFile, encode: Encode, isAmbiguous: boolean): TextFile | undefined {
  const { bytes, type } = file;
  if (!mayBeText(type)) return;
  const isText = isTextType(type);
  const { decoded, isPartial } = decodeCharsets(file);
  const bom = bomCharset(bytes);
  const readings = new Map<string, Reading>();
  for (const [charset, text] of decoded) {
    // NUL occurs in binary files. A text file in UTF-16 is also valid UTF-8 with NUL.
    if (readings.has(text) || (!isText && text.includes("\0"))) continue;
    readings.set(text, { text, encode: encode(charset, charset === bom) });
  }
  if (readings.size > 0) return { readings: [...readings.values()], isPartial: isPartial || isAmbiguous };
  if (!isText) return;
  const text = new TextDecoder().decode(bytes);
  return { readings: [{ text, encode: encode("utf-8", false) }], isPartial: true };
}

/** Decodes bytes in each charset that a program may choose: UTF-8, that of a byte order mark, and those of the media type. */
function decodeCharsets({ bytes, charsets }: EncodedFile): { decoded: Map<string, string>; isPartial: boolean } {
  const decoded = new Map<string, string>();
  const utf16 = guessUtf16(bytes);
  // Programs that read UTF-16 as UTF-8 ignore NUL, so Latin letters are the same text in both.
  const utf8 = decodeStrictly(bytes, "utf-8")?.replaceAll("\0", utf16 === undefined ? "\0" : "");
  if (utf8 !== undefined && utf16 === undefined) decoded.set("utf-8", utf8);
  const labels = new Set(charsets.map((label) => label.toLowerCase()));
  let isPartial = labels.size > MAX_CHARSETS;
  for (const label of [bomCharset(bytes), ...[...labels].slice(0, MAX_CHARSETS), utf16]) {
    if (label === undefined) continue;
    const charset = charsetOf(label);
    if (charset === undefined) {
      isPartial = true;
      continue;
    }
    // If UTF-8 is read as windows-1252 (on the web also as US-ASCII), only letters with accents differ.
    if (decoded.has(charset) || (charset === "windows-1252" && utf8 !== undefined)) continue;
    const text = decodeStrictly(bytes, charset);
    if (text === undefined) isPartial = true;
    decoded.set(charset, text ?? new TextDecoder(charset).decode(bytes));
  }
  if (utf8 !== undefined) decoded.set("utf-8", utf8);
  return { decoded, isPartial };
}

/** Returns the name of a charset, or undefined if it has no decoder. */
function charsetOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return;
  }
}

function decodeStrictly(bytes: Buffer, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return;
  }
}

function bomCharset(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return;
}

/** Recognizes UTF-16 of Latin letters without a byte order mark: at least two of five characters have NUL as their high byte. */
function guessUtf16(bytes: Buffer): string | undefined {
  if (bytes.length < 4 || !bytes.includes(0)) return;
  const zeros = [0, 0];
  for (const [index, byte] of bytes.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] as number) + 1;
  const [even = 0, odd = 0] = zeros;
  const enough = bytes.length / 5;
  if (odd >= enough && even === 0) return "utf-16le";
  return even >= enough && odd === 0 ? "utf-16be" : undefined;
}
