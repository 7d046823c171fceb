import { isRecord } from "../support/is-record.ts";
import { isIdentityEncoding, isUtf8 } from "../support/media-type.ts";
import { AmbiguousJsonError, parseStrict } from "../support/strict-json.ts";
import { unreadable } from "./errors.ts";
import type { Format } from "./format.ts";
import { type LongNumbers, longNumbers } from "./long-numbers.ts";

/** The body of a request or reply, in any form that `fetch` takes. */
export type Body = NonNullable<RequestInit["body"]>;

/** A request as `fetch` is given it. */
export interface WireRequest {
  url: URL;
  method: string;
  headers: Headers;
  /** The body: what the caller gave, or undefined. */
  body: Body | undefined;
  signal: AbortSignal | undefined;
  /** Everything else, such as `redirect` or `dispatcher`. */
  init: RequestInit;
}

/** Reads the arguments of `fetch`. What `init` says goes before what a `Request` says. */
export function readArguments(input: string | URL | Request, init: RequestInit = {}): WireRequest {
  const request = typeof input === "string" || input instanceof URL ? undefined : input;
  const { method, headers, body, signal, ...rest } = init;
  return {
    url: new URL(request ? request.url : (input as string | URL)),
    method: (method ?? request?.method ?? "GET").toUpperCase(),
    headers: new Headers(headers ?? request?.headers),
    body: body ?? request?.body ?? undefined,
    signal: signal ?? request?.signal ?? undefined,
    init: { ...(request && { redirect: request.redirect }), ...rest },
  };
}

/** The body of a request as it is read: JSON, or the fields of a form. */
export type WireBody = { json: Record<string, unknown>; numbers: LongNumbers } | { form: FormData };

/**
 * Reads the body of a request.
 *
 * @throws GuardValidationError when it is of another type than the format asks for.
 */
export async function readBody(
  { body, headers }: WireRequest,
  { form, request }: Pick<Format, "form" | "request">,
): Promise<WireBody> {
  const encoding = headers.get("content-encoding");
  if (!isIdentityEncoding(encoding)) {
    throw unreadable("content-encoding", `a body in ${encoding} cannot be read; send it without`);
  }
  const isForm = body instanceof FormData || (headers.get("content-type") ?? "").startsWith("multipart/");
  if (form && (isForm || !request)) return { form: body instanceof FormData ? body : await readForm(body, headers) };
  if (!isUtf8(headers.get("content-type"))) throw unreadable("content-type", "expected JSON in UTF-8");
  let json: unknown;
  let numbers: LongNumbers;
  try {
    const text = await new Response(body ?? "").text();
    json = parseStrict(text);
    numbers = longNumbers(text);
  } catch (error) {
    if (error instanceof AmbiguousJsonError) throw unreadable(["body", ...error.path].join("."), error.message);
    throw unreadable("body", "expected JSON");
  }
  if (!isRecord(json)) throw unreadable("body", "expected an object");
  return { json, numbers };
}

async function readForm(body: Body | undefined, headers: Headers): Promise<FormData> {
  try {
    const type = headers.get("content-type") ?? "";
    return await new Response(body ?? "", { headers: { "content-type": type } }).formData();
  } catch {
    throw unreadable("body", "expected a form (multipart/form-data)");
  }
}
