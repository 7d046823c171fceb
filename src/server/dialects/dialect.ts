import type { IncomingHttpHeaders } from "node:http";
import type { z } from "zod";
import type { ServiceCall, ServiceCallOptions } from "../../guard/service-guard.ts";
import type { Problem } from "../../http-server/problem.ts";
import type { NamedScanner } from "../../scan/named-scanners.ts";
import type { Side } from "../../scan/scanner.ts";
import type { Vault } from "../../scan/vault.ts";

/** The API of another product, which the server speaks so that gateways and clients of that product can call guard. */
export interface Dialect {
  /** What the product calls its API, for the description of ours. */
  readonly summary: string;
  readonly endpoints: readonly Endpoint[];
  /**
   * The body of an error, in the shape in which the product writes errors, for endpoints whose clients read it. The status and the
   * headers stay. By default errors are problems (RFC 9457), as in the rest of the server.
   */
  problem?(problem: Problem): unknown;
  /**
   * Where the product asks whether the service is ready (`GET`, without a credential), and the body that says so. A service that is not
   * ready answers with status 503.
   */
  readonly health?: { readonly path: string; readonly body: unknown };
}

/** One `POST` endpoint of a dialect. */
export interface Endpoint<Body extends z.ZodType = z.ZodType> {
  /** The path, with parameters as Fastify writes them. */
  readonly path: string;
  readonly summary: string;
  /** The shape of the body. Fields that are not known are ignored, because newer versions of the product may send more. */
  readonly body: Body;
  /** A request and the answer to it, for the API's description. */
  readonly example: { readonly request: unknown; readonly reply: unknown };
  /** Turns a body into calls of guard, and their reports into the answer of the product. */
  answer(body: z.output<Body>, call: DialectCall): Promise<DialectReply>;
}

/** What an endpoint is given besides the body. */
export interface DialectCall {
  /** The checks of this request. */
  readonly call: ServiceCall;
  /** Begins further checks, for a request that holds several calls of a model, or that only wants to know what is in its texts. */
  begin(options?: Pick<ServiceCallOptions, "suppress" | "rewrite" | "sent" | "vault">): ServiceCall;
  /** Makes tokens of vaults for the caller and opens them, for a product that asks before and after the model and can keep one in between. */
  readonly vaults: { seal(vault: Vault): string; open(token: string): Vault };
  /** Whether answers are restored from the vault of their call. */
  readonly restores: boolean;
  /** The scanners of the server, by side. */
  readonly scanners: Readonly<Record<Side, readonly NamedScanner[]>>;
  readonly headers: IncomingHttpHeaders;
}

/** The answer of an endpoint. */
export interface DialectReply {
  /** Default: 200. */
  readonly status?: number;
  readonly body: unknown;
}

/** Checks that an endpoint fits its schema. */
export function endpoint<Body extends z.ZodType>(definition: Endpoint<Body>): Endpoint {
  return definition as unknown as Endpoint;
}
