import type { MessageText } from "../../scan/conversation-text.ts";

/** The key at the end of a path: `... → login.password`, `... → headers["x-api-key"]`, `messages/1/.../token`. */
const KEY = /(?:^|[./\s])([\p{L}_$][\p{L}\p{N}_$-]*)$|\["([^"\\\]]+)"\]$/u;
/** Matches keys of credentials. */
const CREDENTIAL = /pass|pwd|secret|token|key|credential|auth/i;
/** Matches characters that a quoted string on one line cannot contain. */
const UNQUOTABLE = /["\\\r\n]/;

/** A string of JSON whose key names a credential. */
export interface CredentialField {
  /** The string. */
  value: string;
  /** The offset of the string in the text. */
  start: number;
  /** The key and the string, on one line. */
  line: string;
  /** The offset of the string in the line. */
  at: number;
}

/**
 * Returns the strings of a text whose keys name a credential. A text of a conversation contains JSON strings without their keys, and a
 * password by itself looks like any word.
 *
 * @param text the text, which earlier scanners may have rewritten.
 * @param original the text of the conversation. If the rewritten text has another number of lines, its strings cannot be located, and none
 *   is returned.
 */
export function credentialFields(text: string, original: MessageText): CredentialField[] {
  const { pieces } = original;
  const lines = text === original.text ? undefined : text.split("\n");
  if (lines && lines.length !== pieces.length) return [];
  const fields: CredentialField[] = [];
  let start = 0;
  for (const [index, piece] of pieces.entries()) {
    const value = lines ? (lines[index] ?? "") : text.slice(piece.start, piece.end);
    const [, word, quoted] = KEY.exec(piece.path) ?? [];
    const key = word ?? quoted ?? "";
    if (CREDENTIAL.test(key) && !UNQUOTABLE.test(value)) {
      const before = `"${key}": "`;
      fields.push({ value, start, line: `${before}${value}"`, at: before.length });
    }
    start += value.length + 1;
  }
  return fields;
}
