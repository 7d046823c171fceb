import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { digestOf, sha256 } from "../../config/credential-secrets.ts";
import { MAIN_PROFILE } from "../../config/main-profile.ts";
import type { AuthEntry } from "../../config/schema.ts";
import { Problem } from "../problem.ts";
import type { Counters } from "./counter.ts";
import { type Credential, credentialsOf } from "./credential.ts";
import { FailedAuth } from "./failed-auth.ts";
import { ALL_RIGHTS, type Rights } from "./rights.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The first configured credential that the request matches, or null. */
    credential: Credential | null;
  }
  interface FastifyContextConfig {
    /** Whether the route needs no authentication. */
    public?: boolean;
  }
}

interface WithHeaders {
  headers: IncomingHttpHeaders;
}

/** An authentication scheme (RFC 9110, section 11), made of one configured entry. */
interface Scheme {
  /**
   * Returns the value of WWW-Authenticate.
   *
   * @param presented whether the request had a credential of this scheme, which was wrong.
   */
  challenge(presented: boolean): string;
  /** Returns the credential that the request presents for this scheme. */
  presented(request: WithHeaders): string | undefined;
  /** Returns the index of the configured credential that matches, or -1. */
  matching(presented: string): number;
}

/** Returns a function that finds the credential that a request presents in its headers, for servers that do not use Fastify. */
export function authenticator(entries: readonly AuthEntry[]): (request: WithHeaders) => Credential | undefined {
  const schemes = entries.map(toScheme);
  const credentials = credentialsOf(entries);
  return (request) => {
    const found = schemes.map((scheme, index) => {
      const presented = scheme.presented(request);
      return presented === undefined ? undefined : credentials[index]?.[scheme.matching(presented)];
    });
    return found.find((credential) => credential !== undefined);
  };
}

export interface AuthOptions {
  entries: readonly AuthEntry[];
  /** The rates of `rate_limit.failures`: requests without a valid credential by address. */
  failures?: string;
  counters?: Counters;
}

/**
 * Requires one of the configured credentials: bearer tokens (RFC 6750), user and password (RFC 7617), or keys in a header. Routes with
 * `public` in their config need none. {@link FailedAuth} limits the failed attempts of an address.
 */
export const auth = fp(async (app: FastifyInstance, { entries, failures, counters }: AuthOptions) => {
  app.decorateRequest("credential", null);
  app.decorateRequest("rights", null as unknown as Rights);
  app.addHook("onRequest", (request, _reply, done) => {
    request.rights = ALL_RIGHTS;
    done();
  });
  if (entries.length === 0) return;
  const schemes = entries.map(toScheme);
  const credentials = credentialsOf(entries);
  const failed = new FailedAuth(failures, counters);

  app.addHook("onRequest", async (request, reply) => {
    // An unknown path gets 404 without authentication: there is nothing to protect.
    if (request.routeOptions.config.public || request.is404) return;
    let wrong = false;
    let found: { credential: Credential; entry: AuthEntry } | undefined;
    const challenges: string[] = [];
    for (const [index, scheme] of schemes.entries()) {
      const presented = scheme.presented(request);
      const match = presented === undefined ? -1 : scheme.matching(presented);
      if (match >= 0)
        found ??= { credential: credentials[index]?.[match] as Credential, entry: entries[index] as AuthEntry };
      wrong ||= presented !== undefined;
      challenges.push(scheme.challenge(presented !== undefined));
    }
    await failed.check(request, found?.credential);
    if (found) {
      request.credential = found.credential;
      request.rights = rightsOf(found.entry);
      return;
    }
    reply.header("www-authenticate", [...new Set(challenges)].join(", "));
    throw new Problem(401, wrong ? "The credential is not valid." : "A credential is required.");
  });
});

function rightsOf({
  profile = MAIN_PROFILE,
  mayChoose = [],
  maySuppress = false,
  mayAddRecognizers = false,
  mayAddExceptions = false,
  mayReview = false,
  mayAdminister = false,
}: AuthEntry): Rights {
  return { profile, mayChoose, maySuppress, mayAddRecognizers, mayAddExceptions, mayReview, mayAdminister };
}

function toScheme(entry: AuthEntry): Scheme {
  switch (entry.type) {
    case "http_bearer": {
      const token = digestOf(entry.token);
      return {
        challenge: (presented) => `Bearer realm="guard"${presented ? ', error="invalid_token"' : ""}`,
        presented: (request) => authorization(request, "bearer"),
        matching: (presented) => (same(presented, token) ? 0 : -1),
      };
    }
    case "http_basic": {
      const username = sha256(entry.username);
      const password = digestOf(entry.password);
      return {
        challenge: () => 'Basic realm="guard", charset="UTF-8"',
        presented: (request) => authorization(request, "basic"),
        matching: (presented) => {
          const text = Buffer.from(presented, "base64").toString("utf8");
          const colon = text.indexOf(":");
          // Compare both in any case, so that the time does not reveal which of them was right.
          const matches = [same(text.slice(0, Math.max(0, colon)), username), same(text.slice(colon + 1), password)];
          return colon >= 0 && matches.every(Boolean) ? 0 : -1;
        },
      };
    }
    case "api_key": {
      const keys = entry.keys.map(digestOf);
      const header = entry.header.toLowerCase();
      return {
        challenge: () => `ApiKey realm="guard", header="${entry.header}"`,
        presented: ({ headers }) => (typeof headers[header] === "string" ? headers[header] : undefined),
        // Compare all of them, so that the time does not reveal which one matched.
        matching: (presented) => keys.map((key) => same(presented, key)).indexOf(true),
      };
    }
  }
}

/** Returns the credentials in an Authorization header of a scheme, whose name is case-insensitive (RFC 9110, section 11.1). */
function authorization({ headers }: WithHeaders, scheme: string): string | undefined {
  const { authorization = "" } = headers;
  const end = authorization.indexOf(" ");
  const credentials = authorization.slice(end + 1).trim();
  return authorization.slice(0, end).toLowerCase() === scheme && credentials !== "" ? credentials : undefined;
}

/** Compares in constant time. Hashes have the same length. */
function same(presented: string, expected: Buffer): boolean {
  return timingSafeEqual(sha256(presented), expected);
}
