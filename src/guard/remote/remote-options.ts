import { z } from "zod";
import { lazy } from "../../support/lazy.ts";
import { parseOptions } from "../../support/options.ts";

/** The credential for a guard server: one of its `auth` entries. */
export type RemoteCredential =
  /** A key in a header: an entry of type `api_key`. The default of `header` is `X-API-Key`. */
  | { apiKey: string; header?: string }
  /** A token: an entry of type `http_bearer`. */
  | { bearer: string }
  /** A user: an entry of type `http_basic`. */
  | { basic: { username: string; password: string } };

/** The options of a {@link RemoteGuard}. */
export interface RemoteGuardOptions {
  /** The address of the server, such as `http://127.0.0.1:8000`. It may have a path, for a server behind a proxy. */
  url: string | URL;
  /** The credential. Default: none, for a server without `auth`. */
  credential?: RemoteCredential;
  /** The timeout of a check with all its retries, in milliseconds. Default: 60,000, which allows a retry after a scan of 30 seconds. */
  timeout?: number;
  /** The maximum number of retries after a temporary refusal (429, 503 with `Retry-After`) or a lost connection. Default: 2. */
  retries?: number;
  /** Sends the HTTP requests. Default: the global `fetch`, which keeps connections alive and opens several in parallel. */
  fetch?: typeof fetch;
}

/** A header value: printable ASCII without white space around it. */
const secret = z
  .string()
  .regex(
    /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
    "expected printable ASCII characters without white space around them",
  );

const credentialSchema = lazy(() =>
  z.union([
    z.strictObject({
      apiKey: secret,
      header: z
        .string()
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "expected the name of a header")
        .default("X-API-Key"),
    }),
    z.strictObject({ bearer: secret }),
    z.strictObject({
      basic: z.strictObject({
        username: z.string().regex(/^[^:]+$/, "expected a name without a colon"),
        password: z.string().min(1),
      }),
    }),
  ]),
);

const urlSchema = lazy(() =>
  z
    .union([z.string(), z.instanceof(URL)])
    .refine((value) => URL.canParse(String(value)), "expected an address such as http://127.0.0.1:8000")
    .transform((value) => new URL(value))
    .refine(({ protocol }) => /^https?:$/.test(protocol), "expected an address that begins with http:// or https://")
    .refine(({ username, password }) => !username && !password, "give the credential in credential, not in the address")
    .refine(({ search, hash }) => !search && !hash, "expected an address without ? and #")
    .transform((value) => new URL(value.pathname.endsWith("/") ? value : `${value}/`)),
);

const schema = lazy(() =>
  z.strictObject({
    url: urlSchema(),
    credential: credentialSchema().optional(),
    timeout: z.number().positive().max(3_600_000).default(60_000),
    retries: z.number().int().min(0).max(10).default(2),
    fetch: z.custom<typeof fetch>((value) => typeof value === "function", "expected a function like fetch").optional(),
  }),
);

/** Validated options with the headers of each request. */
export interface ResolvedRemoteOptions {
  /** The address, which ends with a slash. */
  url: URL;
  headers: Record<string, string>;
  /** In milliseconds. */
  timeout: number;
  retries: number;
  fetch: typeof fetch;
}

/** @throws GuardValidationError with the path of every invalid value. No message quotes a credential. */
export function resolveRemoteOptions(options: RemoteGuardOptions): ResolvedRemoteOptions {
  const { url, credential, timeout, retries, fetch: own } = parseOptions(schema(), options);
  return {
    url,
    headers: credential ? createHeaders(credential) : {},
    timeout,
    retries,
    // The global function is read for each request, because programs replace it.
    fetch: own ?? ((...request) => fetch(...request)),
  };
}

function createHeaders(given: z.output<ReturnType<typeof credentialSchema>>): Record<string, string> {
  if ("apiKey" in given) return { [given.header]: given.apiKey };
  if ("bearer" in given) return { authorization: `Bearer ${given.bearer}` };
  const { username, password } = given.basic;
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}
