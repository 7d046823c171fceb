/** Shorter runs of letters are words, not pieces of encoded text. */
const MIN_PIECE_LENGTH = 8;

const RUN = /[A-Za-z0-9+/_-]{8,}={0,2}/g;
const HEX = /^(?:[0-9a-f]+|[0-9A-F]+)$/;

/** The maximum length of a result in UTF-16 code units. Longer results are truncated. */
const MAX_DECODED_LENGTH = 4000;

/**
 * Decodes pieces of base64 (RFC 4648, both alphabets) or hexadecimal digits from several places, such as one in each message, as one
 * text. It returns readable text only, so that names and keys that look encoded give no result.
 */
export function decodedTogether(texts: readonly string[]): string[] {
  const pieces = texts.flatMap((text) => [...text.matchAll(RUN)].map(([run]) => run).filter(looksEncoded));
  if (pieces.length < 2) return [];
  const longest = texts.flatMap((text) => {
    const runs = [...text.matchAll(RUN)].map(([run]) => run).filter(looksEncoded);
    return runs.length > 0 ? [runs.reduce((a, b) => (b.length > a.length ? b : a))] : [];
  });
  for (const chosen of [pieces, longest]) {
    if (chosen.length < 2) continue;
    const decoded = chosen.every((piece) => HEX.test(piece)) ? fromHex(chosen) : fromBase64(chosen);
    if (decoded !== undefined) return [decoded.slice(0, MAX_DECODED_LENGTH)];
  }
  return [];
}

/** Whether a run contains a digit, a sign of base64, or a capital after a small letter, unlike words of natural languages. */
function looksEncoded(run: string): boolean {
  return run.length >= MIN_PIECE_LENGTH && /[0-9+=]|[a-z][A-Z]|[A-Z]{2}[a-z]/.test(run) && !/^\d+$/.test(run);
}

function fromHex(pieces: readonly string[]): string | undefined {
  const digits = pieces.join("");
  return digits.length % 2 === 0 ? readable(Buffer.from(digits, "hex")) : undefined;
}

/** Decodes the pieces as parts of one text, or one by one if each has its own padding. */
function fromBase64(pieces: readonly string[]): string | undefined {
  const together = readable(Buffer.from(pieces.map((piece) => piece.replace(/=+$/, "")).join(""), "base64"));
  return together ?? readable(Buffer.concat(pieces.map((piece) => Buffer.from(piece, "base64"))));
}

/** Returns bytes as text if nearly all characters are letters, spaces and common punctuation. */
function readable(bytes: Buffer): string | undefined {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
  const plain = text.match(/[\p{L}\p{M}\s.,:;!?'"()-]/gu)?.length ?? 0;
  return plain >= 0.9 * [...text].length && /\p{L}/u.test(text) ? text : undefined;
}
