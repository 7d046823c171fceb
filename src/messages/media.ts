/** A file that is text, and the way back from a changed text to the form in which the file was given. */
export interface TextFile {
  text: string;
  encode(text: string): string;
}

/** Media types that are text although their name does not begin with `text/`. */
const TEXT_TYPES =
  /^application\/(?:(?:[\w.-]+\+)?(?:json|xml|yaml)|x-yaml|json5|x-ndjson|jsonl|x-jsonlines|csv|markdown|xhtml|html|javascript|ecmascript|x-javascript|typescript|x-sh|x-python|sql|toml|rtf|x-tex|x-latex|graphql|x-www-form-urlencoded)$|\+(?:xml|json|yaml)$|^message\//;

/** Media types that say nothing of what is in a file. */
const UNKNOWN_TYPES = new Set(["", "application/octet-stream", "binary/octet-stream", "application/x-binary"]);

/**
 * Decodes a file of base64, or of a data URL (RFC 2397), when it is text: of a textual media type, or of an unknown one with bytes that
 * are UTF-8 without NUL.
 *
 * @param mediaType the type that stands beside the data. That of a data URL comes first.
 * @returns undefined for files of other kinds.
 */
export function decodeFile(data: string, mediaType = ""): TextFile | undefined {
  if (!/^data:/i.test(data)) {
    return decoded(Buffer.from(data, "base64"), mediaType, (text) => Buffer.from(text).toString("base64"));
  }
  const comma = data.indexOf(",");
  if (comma < 0) return;
  const [type = "", ...parameters] = data.slice("data:".length, comma).split(";");
  const isBase64 = parameters.at(-1)?.trim().toLowerCase() === "base64";
  const body = data.slice(comma + 1);
  const bytes = isBase64 ? Buffer.from(body, "base64") : Buffer.from(percentDecoded(body));
  const kept = parameters.filter((parameter) => !/^\s*(?:base64\s*$|charset=)/i.test(parameter));
  const header = [type, ...kept, "charset=utf-8", "base64"].join(";");
  // A data URL without a type is text by RFC 2397.
  const named = [type || "text/plain", ...parameters].join(";");
  return decoded(bytes, named, (text) => `data:${header},${Buffer.from(text).toString("base64")}`);
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function decoded(bytes: Buffer, mediaType: string, encode: (text: string) => string): TextFile | undefined {
  const type = (mediaType.split(";")[0] ?? "").trim().toLowerCase();
  const isText = type.startsWith("text/") || TEXT_TYPES.test(type);
  if (!isText && !UNKNOWN_TYPES.has(type)) return;
  const charset = charsetOf(bytes, mediaType);
  try {
    const text = new TextDecoder(charset, { fatal: !isText }).decode(bytes);
    if (!isText && text.includes("\0")) return;
    return { text, encode };
  } catch {
    // The bytes are no text, or the character set has no decoder. Such a file counts as skipped.
    return;
  }
}

function charsetOf(bytes: Buffer, mediaType: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return /;\s*charset="?([^";\s]+)/i.exec(mediaType)?.[1] ?? "utf-8";
}
