import type { IncomingHttpHeaders } from "node:http";
import type { Format } from "../http-formats/format.ts";
import { findFormat } from "../http-formats/formats.ts";
import type { Target } from "./upstreams.ts";

/** What the proxy does with a call: guard it, pass it on unchecked, or refuse it. */
export type CallPlan =
  | { kind: "guarded"; format: Format }
  | { kind: "passed" }
  | { kind: "refused"; status: number; message: string };

/** Paths of lists and descriptions of models in the APIs of OpenAI, Anthropic and Google. They contain no texts of users. */
const MODEL_PATHS = /\/models(?:\/.+)?$/;

/** Whether a request has a body, by the headers of HTTP/1.1 (RFC 9112, section 6.3). */
export function announcesBody({ "content-length": length = "0", "transfer-encoding": encoding }: IncomingHttpHeaders) {
  return length !== "0" || encoding !== undefined;
}

/**
 * Decides what to do with a call. Calls that guard can read are guarded, lists of models pass, and others are refused.
 *
 * @param passed further paths that pass unchecked. With `/*` at the end, all paths below pass that guard cannot read.
 */
export function planCall(
  { method, hasBody: sendsBody }: { method: string | undefined; hasBody: boolean },
  { path, url }: Target,
  passed: readonly string[],
): CallPlan {
  if (passed.includes(path)) return { kind: "passed" };
  const hasBody = method === "POST" && sendsBody;
  const format = method === "POST" || method === "GET" ? findFormat(url.pathname, hasBody) : undefined;
  if (isAmbiguous(url.pathname, format)) {
    const message = "guard cannot tell which path this is, because it has encoded separators.";
    return { kind: "refused", status: 404, message };
  }
  if (format) return { kind: "guarded", format };
  if (findFormat(url.pathname, true) || findFormat(url.pathname, false)) {
    const message = "guard supports POST with a body on this path, and GET of stored responses.";
    return { kind: "refused", status: 405, message };
  }
  const isBelowPassed = passed.some((entry) => entry.endsWith("/*") && path.startsWith(entry.slice(0, -1)));
  if (isBelowPassed || ((method === "GET" || method === "HEAD") && MODEL_PATHS.test(url.pathname)))
    return { kind: "passed" };
  const message =
    "guard cannot check calls to this path, so the call was not sent. The option --pass passes a path unchecked.";
  return { kind: "refused", status: 404, message };
}

/** Servers decode a path once or twice. */
const MAX_DECODINGS = 3;

/**
 * Whether a server may take a path for another one, because it decodes separators before it resolves dot segments: one above it, or one that
 * guard can check. An id with a slash, such as that of a model, is not ambiguous.
 */
function isAmbiguous(path: string, format: Format | undefined): boolean {
  let decoded = path;
  for (let count = 0; count <= MAX_DECODINGS; count++) {
    const separated = decoded.replaceAll("\\", "/").replace(/\/{2,}/g, "/");
    // Some servers ignore what follows a semicolon in a segment.
    const segments = separated.split("/").map((segment) => segment.split(";", 1)[0] as string);
    if (segments.some((segment) => segment === "." || segment === "..")) return true;
    const plain = segments.join("/");
    if (plain !== path && [true, false].some((hasBody) => (findFormat(plain, hasBody) ?? format) !== format))
      return true;
    const next = decoded.replace(/%[0-7][\da-f]/gi, (escaped) =>
      String.fromCharCode(Number.parseInt(escaped.slice(1), 16)),
    );
    if (next === decoded) return false;
    decoded = next;
  }
  return true;
}
