import type { IncomingMessage } from "node:http";
import type { Format } from "../http-formats/format.ts";
import { formatOf } from "../http-formats/formats.ts";
import type { Target } from "./upstreams.ts";

/** What the proxy does with a request: guards it, hands it on without a look at it, or refuses it. */
export type Plan =
  | { kind: "guarded"; format: Format }
  | { kind: "passed" }
  | { kind: "refused"; status: number; message: string };

/** The paths below which models are listed and described, in the APIs of OpenAI and of Anthropic. Nobody's texts are there. */
const MODELS = /\/models(?:\/.+)?$/;

/**
 * Decides what becomes of a request. Only what guard can read goes on, and the lists of models. What users name passes as well: a path
 * by itself, or with `/*` at its end all paths below it, apart from those that guard can read.
 */
export function planOf({ method, headers }: IncomingMessage, { path, url }: Target, passed: readonly string[]): Plan {
  if (passed.includes(path)) return { kind: "passed" };
  const { "content-length": length = "0", "transfer-encoding": encoding } = headers;
  const hasBody = method === "POST" && (length !== "0" || encoding !== undefined);
  const format = method === "POST" || method === "GET" ? formatOf(url.pathname, hasBody) : undefined;
  if (format) return { kind: "guarded", format };
  if (formatOf(url.pathname, true) || formatOf(url.pathname, false)) {
    const message = "guard reads calls of this path as POST with a body, and answers that were kept as GET.";
    return { kind: "refused", status: 405, message };
  }
  const below = passed.some((entry) => entry.endsWith("/*") && path.startsWith(entry.slice(0, -1)));
  if (below || ((method === "GET" || method === "HEAD") && MODELS.test(url.pathname))) return { kind: "passed" };
  const message =
    "guard cannot read what goes to this path, so it is not sent. The option --pass of guard proxy lets a path through unchecked.";
  return { kind: "refused", status: 404, message };
}
