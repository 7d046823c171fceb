import type { IncomingHttpHeaders } from "node:http";
import type { z } from "zod";
import type { LocalCall, LocalCallOptions } from "../../guard/local-guard.ts";
import type { Problem } from "../../http-server/problem.ts";
import type { NamedScanner } from "../../scan/named-scanners.ts";
import type { Side } from "../../scan/scanner.ts";
import type { Vault } from "../../scan/vault.ts";
import type { AdHocRecognizer } from "../../scanners/parts/ad-hoc-recognizers.ts";

/** The API of another product, which the server emulates for gateways and clients of that product. */
export interface Dialect {
  /** The name of the API, for the API description. */
  readonly summary: string;
  readonly endpoints: readonly Endpoint[];
  /** What clients may ask about the server (`GET`). */
  readonly lists?: readonly ListEndpoint[];
  /** Says why these scanners cannot answer any request, as an error of the configuration. Undefined if they can. */
  findFault?(scanners: DialectCall["scanners"]): string | undefined;
  /** Returns the body of an error in the shape of the product. Status and headers do not change. Default: a problem (RFC 9457). */
  problem?(problem: Problem): unknown;
  /**
   * The path at which clients of the product ask with `GET`, without a credential, whether the service is ready. If it is, the reply has this
   * body, as a text or as JSON; if not, it has status 503.
   */
  readonly health?: { readonly path: string; readonly body: unknown };
}

/** One `POST` endpoint of a dialect. */
export interface Endpoint<Body extends z.ZodType = z.ZodType> {
  /** The path, with parameters in the syntax of Fastify. */
  readonly path: string;
  readonly summary: string;
  /** The schema of the body. Unknown fields are ignored, because newer versions of the product may send more. */
  readonly body: Body;
  /** A request and its reply, for the API description. */
  readonly example: { readonly request: unknown; readonly reply: unknown };
  /** Turns a body into calls of guard, and their reports into the reply of the product. */
  answer(body: z.output<Body>, call: DialectCall): Promise<DialectReply>;
}

/** One `GET` endpoint of a dialect, which returns a list of names. */
export interface ListEndpoint {
  readonly path: string;
  readonly summary: string;
  /** A reply, for the API description. */
  readonly example: readonly string[];
  /** @param query the parameters of the URL. */
  list(scanners: DialectCall["scanners"], query: { readonly language?: string }): readonly string[];
}

/** The options of the checks of a request. */
export interface DialectCallOptions extends Pick<LocalCallOptions, "suppress" | "rewrite" | "sent" | "vault"> {
  /**
   * The scanners that look for personal data get these options, and all of them run. Recognizers need the right `may_add_recognizers`.
   * `types` are the only types that are looked for; undefined means those of the scanners.
   */
  personalData?: {
    side: Side;
    recognizers: readonly AdHocRecognizer[];
    explain: boolean;
    types?: readonly string[] | undefined;
  };
}

/** The context of a request to an endpoint. */
export interface DialectCall {
  /** The checks of this request. */
  readonly call: LocalCall;
  /** Starts further checks, for a request with several calls of a model, or with other options. */
  begin(options?: DialectCallOptions): LocalCall;
  /** Seals and opens vaults for the caller, for a product that calls before and after the model and can keep a token in between. */
  readonly vaults: { seal(vault: Vault): string; open(token: string): Vault };
  /** Whether outputs are restored from the vault of their call. */
  readonly restores: boolean;
  readonly scanners: Readonly<Record<Side, readonly NamedScanner[]>>;
  readonly headers: IncomingHttpHeaders;
}

export interface DialectReply {
  /** Default: 200. */
  readonly status?: number;
  readonly body: unknown;
}

/** Checks the types of an endpoint against its schema. */
export function endpoint<Body extends z.ZodType>(definition: Endpoint<Body>): Endpoint {
  return definition as unknown as Endpoint;
}
