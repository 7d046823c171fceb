import type { MessageText } from "../../scan/conversation-text.ts";

/** The key at the end of a path: `... → login.password`, `... → headers["x-api-key"]`, `messages/1/.../token`. */
const KEY = /(?:^|[./\s])([\p{L}_$][\p{L}\p{N}_$-]*)$|\["([^"\\\]]+)"\]$/u;
/** What stands in keys of credentials. */
const CREDENTIAL = /pass|pwd|secret|token|key|credential|auth/i;
/** What cannot stand in a string in quotes on one line as it is. */
const UNQUOTABLE = /["\\\r\n]/;

/** A string of JSON whose key names a credential. */
export interface CredentialField {
  /** The string, and where it begins in the text. */
  value: string;
  start: number;
  /** The string behind its key, on one line, and where it begins in that. */
  line: string;
  at: number;
}

/**
 * The strings of a text whose keys name a credential. A text of a conversation has the strings of JSON without their keys, and a password
 * by itself looks like any word.
 *
 * @param text the text as it is now; scanners before may have rewritten it.
 * @param of the text of the conversation that it was made from. Where a rewritten text has other lines, nothing tells where its strings
 *   are, and none is returned.
 */
export function credentialFields(text: string, of: MessageText): CredentialField[] {
  const { pieces } = of;
  const lines = text === of.text ? undefined : text.split("\n");
  if (lines && lines.length !== pieces.length) return [];
  const named: CredentialField[] = [];
  let start = 0;
  for (const [index, piece] of pieces.entries()) {
    const value = lines ? (lines[index] ?? "") : text.slice(piece.start, piece.end);
    const [, word, quoted] = KEY.exec(piece.path) ?? [];
    const key = word ?? quoted ?? "";
    if (CREDENTIAL.test(key) && !UNQUOTABLE.test(value)) {
      const before = `"${key}": "`;
      named.push({ value, start, line: `${before}${value}"`, at: before.length });
    }
    start += value.length + 1;
  }
  return named;
}
