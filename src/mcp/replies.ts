import {
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/client";
import { isRecord } from "../support/is-record.ts";
import type { TextVerdict } from "./session-scanner.ts";

/** The error code of a blocked message. JSON-RPC reserves -32000 to -32099 for implementations. */
const BLOCKED = -32010;

/** The error code of a request that gets no answer from the server. */
export const NO_ANSWER = -32000;

/** Why a text is blocked, in words for agents and people. It does not quote the text. */
export function blockReason({ failing, reason, findings }: TextVerdict): string {
  if (reason === "error") return "it could not be checked";
  if (reason === "review") return `a person has to approve it first (${failing.join(", ")})`;
  if (reason === "coverage") return "a part of it cannot be checked, and the configuration requires full coverage";
  const checks = failing.map((name) => {
    const types = [...new Set((findings[name] ?? []).map(({ type }) => type))];
    return types.length > 0 ? `${name} (${types.join(", ")})` : name;
  });
  return `it failed ${checks.join(", ")}`;
}

/** The error that replaces a blocked message. */
export function blockedError(
  { id }: Pick<JSONRPCRequest, "id">,
  message: string,
  verdict?: TextVerdict,
): JSONRPCResponse {
  const data = verdict && { scanners: verdict.scores, findings: verdict.findings };
  return { jsonrpc: "2.0", id, error: { code: BLOCKED, message, ...(data ? { data } : {}) } };
}

/**
 * The response that replaces a blocked result, or the result of a blocked call: for tools a result that the model can read, otherwise
 * an error.
 */
export function blockedResponse(request: JSONRPCRequest, message: string, verdict?: TextVerdict): JSONRPCResponse {
  if (request.method !== "tools/call") return blockedError(request, message, verdict);
  const result = {
    // Protocol revisions from 2026 on require the type of a result.
    ...(isModern(request) ? { resultType: "complete" } : {}),
    content: [{ type: "text", text: message }],
    isError: true,
  };
  return { jsonrpc: "2.0", id: request.id, result };
}

/** Whether a request has a protocol revision from 2026 on, which it names in `_meta`. */
export function isModern({ params }: { params?: unknown }): boolean {
  return isRecord(params) && isRecord(params._meta) && params._meta[PROTOCOL_VERSION_META_KEY] !== undefined;
}

/** The method of a request and the name of its tool or resource, without arguments. */
export function requestLabel({ method, params }: Pick<JSONRPCNotification, "method" | "params">): string {
  const name = params?.name ?? params?.uri;
  return name === undefined ? method : `${method} ${quotedName(name)}`;
}

/** A name from the other side for a line of the log: shortened, with escapes for all characters outside of ASCII. */
export function quotedName(name: unknown): string {
  const text = String(name);
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text).replace(
    /[^\x20-\x7e…]/gu,
    (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  );
}
