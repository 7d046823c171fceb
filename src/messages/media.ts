/** A text file and the encoding in which the request contains it. */
export interface TextFile {
  text: string;
  encode(text: string): string;
}

/** Textual media types whose name does not begin with `text/`. */
const TEXT_TYPES =
  /^application\/(?:(?:[\w.-]+\+)?(?:json|xml|yaml)|x-yaml|json5|x-ndjson|jsonl|x-jsonlines|csv|markdown|xhtml|html|javascript|ecmascript|x-javascript|typescript|x-sh|x-python|sql|toml|rtf|x-tex|x-latex|graphql|x-www-form-urlencoded)$|\+(?:xml|json|yaml)$|^message\//;

/** Media types that do not state the kind of file. */
const UNKNOWN_TYPES = new Set(["", "application/octet-stream", "binary/octet-stream", "application/x-binary"]);

/**
 * Decodes a text file from base64 or a data URL (RFC 2397). A file is text if its media type is textual, or if the type is unknown and the
 * bytes are UTF-8 without NUL.
 *
 * @param mediaType the type from beside the data. The type in a data URL takes precedence.
 * @returns undefined for other files.
 */
export function decodeFile(data: string, mediaType = ""): TextFile | undefined {
  if (!/^data:/i.test(data)) {
    return decodeBytes(Buffer.from(data, "base64"), mediaType, (text) => Buffer.from(text).toString("base64"));
  }
  const comma = data.indexOf(",");
  if (comma < 0) return;
  const [type = "", ...parameters] = data.slice("data:".length, comma).split(";");
  const isBase64 = parameters.at(-1)?.trim().toLowerCase() === "base64";
  const body = data.slice(comma + 1);
  const bytes = isBase64 ? Buffer.from(body, "base64") : Buffer.from(decodePercent(body));
  const kept = parameters.filter((parameter) => !/^\s*(?:base64\s*$|charset=)/i.test(parameter));
  const header = [type, ...kept, "charset=utf-8", "base64"].join(";");
  // RFC 2397: a data URL without a type is text.
  const named = [type || "text/plain", ...parameters].join(";");
  return decodeBytes(bytes, named, (text) => `data:${header},${Buffer.from(text).toString("base64")}`);
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function decodeBytes(bytes: Buffer, mediaType: string, encode: (text: string) => string): TextFile | undefined {
  const type = (mediaType.split(";")[0] ?? "").trim().toLowerCase();
  const isText = type.startsWith("text/") || TEXT_TYPES.test(type);
  if (!isText && !UNKNOWN_TYPES.has(type)) return;
  const charset = detectCharset(bytes, mediaType);
  try {
    const text = new TextDecoder(charset, { fatal: !isText }).decode(bytes);
    if (!isText && text.includes("\0")) return;
    return { text, encode };
  } catch {
    // The bytes are not text, or the charset has no decoder. Such a file counts as skipped.
    return;
  }
}

function detectCharset(bytes: Buffer, mediaType: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return /;\s*charset="?([^";\s]+)/i.exec(mediaType)?.[1] ?? "utf-8";
}
