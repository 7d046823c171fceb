import { PROTOCOL_VERSION_META_KEY } from "@modelcontextprotocol/client";
import { isRecord } from "../support/is-record.ts";
import type { TextVerdict } from "./session-scanner.ts";

/** The code of an error in place of a message that is not let through. JSON-RPC leaves -32000 to -32099 to implementations. */
export const BLOCKED = -32010;

/** The code of an error in place of an answer that the server cannot give any more. */
export const NO_ANSWER = -32000;

/** Why something is blocked: a sentence for agents and people that quotes no text. */
export function reasonFor({ failing, reason, findings }: TextVerdict): string {
  if (reason === "error") return "it could not be checked";
  if (reason === "coverage") return "a part of it cannot be checked, and the configuration demands that all of it is";
  const checks = failing.map((name) => {
    const kinds = [...new Set((findings[name] ?? []).map(({ type }) => type))];
    return kinds.length > 0 ? `${name} (${kinds.join(", ")})` : name;
  });
  return `it failed ${checks.join(", ")}`;
}

/** The scores and findings for programs, without the texts that were found. */
export function detailsOf({ scores, findings }: TextVerdict): Record<string, unknown> {
  return { scanners: scores, findings };
}

/** A result of a tool that says why the real one, or the call itself, was not let through. */
export function blockedTool(request: { params?: unknown }, sentence: string): Record<string, unknown> {
  return {
    // From the protocol's revision of 2026 on, each result says of which type it is.
    ...(isModern(request) ? { resultType: "complete" } : {}),
    content: [{ type: "text", text: sentence }],
    isError: true,
  };
}

/** Whether a request is one of the protocol's revisions from 2026 on: each says its revision in `_meta`. */
export function isModern({ params }: { params?: unknown }): boolean {
  return isRecord(params) && isRecord(params._meta) && params._meta[PROTOCOL_VERSION_META_KEY] !== undefined;
}

/** A name that the other side has given, for a line of the log: short, and without characters that could change the line. */
export function quoted(name: unknown): string {
  const text = String(name);
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text).replace(
    /[^\x20-\x7e…]/gu,
    (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  );
}
