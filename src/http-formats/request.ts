import { isRecord } from "../support/is-record.ts";
import { isIdentityEncoding, isUtf8 } from "../support/media-type.ts";
import { AmbiguousJsonError, parseStrict } from "../support/strict-json.ts";
import { invalidRequest } from "./errors.ts";
import type { Format } from "./format.ts";
import { findLongNumbers, type LongNumbers } from "./long-numbers.ts";

/** The body of a request or reply, in any form that `fetch` accepts. */
export type Body = NonNullable<RequestInit["body"]>;

/** The arguments of `fetch` as one object. */
export interface FetchRequest {
  url: URL;
  method: string;
  headers: Headers;
  /** The body from the caller, if there is one. */
  body: Body | undefined;
  signal: AbortSignal | undefined;
  /** All other options, such as `redirect` or `dispatcher`. */
  init: RequestInit;
}

/** Parses the arguments of `fetch`. `init` takes precedence over a `Request`. */
export function parseFetchArguments(input: string | URL | Request, init: RequestInit = {}): FetchRequest {
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

/** The parsed body of a request: JSON or a form. */
export type RequestBody = { json: Record<string, unknown>; numbers: LongNumbers } | { form: FormData };

/**
 * Reads the body of a request.
 *
 * @throws GuardValidationError if it does not have the type of the format.
 */
export async function readBody(
  { body, headers }: FetchRequest,
  { formFields, readRequest }: Pick<Format, "formFields" | "readRequest">,
): Promise<RequestBody> {
  const encoding = headers.get("content-encoding");
  if (!isIdentityEncoding(encoding)) {
    throw invalidRequest(
      "content-encoding",
      `guard cannot read a body with content-encoding ${encoding}; send it without one`,
    );
  }
  const isForm = body instanceof FormData || (headers.get("content-type") ?? "").startsWith("multipart/");
  if (formFields && (isForm || !readRequest))
    return { form: body instanceof FormData ? body : await readForm(body, headers) };
  if (!isUtf8(headers.get("content-type"))) throw invalidRequest("content-type", "expected JSON in UTF-8");
  let json: unknown;
  let numbers: LongNumbers;
  try {
    const text = await new Response(body ?? "").text();
    json = parseStrict(text);
    numbers = findLongNumbers(text);
  } catch (error) {
    if (error instanceof AmbiguousJsonError) throw invalidRequest(["body", ...error.path].join("."), error.message);
    throw invalidRequest("body", "expected JSON");
  }
  if (!isRecord(json)) throw invalidRequest("body", "expected an object");
  return { json, numbers };
}

async function readForm(body: Body | undefined, headers: Headers): Promise<FormData> {
  try {
    const type = headers.get("content-type") ?? "";
    return await new Response(body ?? "", { headers: { "content-type": type } }).formData();
  } catch {
    throw invalidRequest("body", "expected a form (multipart/form-data)");
  }
}
