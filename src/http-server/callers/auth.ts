import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { MAIN_PROFILE } from "../../config/main-profile.ts";
import type { AuthEntry } from "../../config/schema.ts";
import { Problem } from "../problem.ts";
import type { Counters } from "./counter.ts";
import { type Credential, credentialsOf, digestOf, sha256 } from "./credential.ts";
import { FailedAuth } from "./failed-auth.ts";
import { ALL_RIGHTS, type Rights } from "./rights.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The configured credential that the request carries: the first of them that matches. Null if it carries none. */
    credential: Credential | null;
  }
  interface FastifyContextConfig {
    /** Whether the route is served without authentication. */
    public?: boolean;
  }
}

/** How one configured entry is checked: what a request presents for it, and whether that is right. */
interface Scheme {
  /** The value of WWW-Authenticate. `presented` says that the request had a credential of this kind, and that it was wrong. */
  challenge(presented: boolean): string;
  /** The credential that the request presents for this scheme; undefined when it presents none. */
  presented(request: FastifyRequest): string | undefined;
  /** The index of the configured credential that matches, or -1. */
  matching(presented: string): number;
}

/** Who may call, and how often somebody may try to. */
export interface AuthOptions {
  entries: readonly AuthEntry[];
  /** How many requests without a valid credential an address may send, as `rate_limit.failures` has it. */
  failures?: string;
  /** What counts them. */
  counters?: Counters;
}

/**
 * Refuses requests without one of the configured credentials: bearer tokens (RFC 6750), user and password (RFC 7617), or keys
 * in a header. Every route needs one, except those whose config says `public`. Who tries too often is refused whatever the request
 * carries; see {@link FailedAuth}.
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
    // A path that does not exist answers 404 to everybody: there is nothing to protect.
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
    throw new Problem(401, wrong ? "The credential is not valid." : "A credential is needed.");
  });
});

function rightsOf({
  profile = MAIN_PROFILE,
  mayChoose = [],
  maySuppress = false,
  mayAdminister = false,
}: AuthEntry): Rights {
  return { profile, mayChoose, maySuppress, mayAdminister };
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
          // Both are always compared, so that the time it takes does not tell which of the two was right.
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
        // All of them are compared: the time it takes does not tell which one it was.
        matching: (presented) => keys.map((key) => same(presented, key)).indexOf(true),
      };
    }
  }
}

/** The credentials in an Authorization header of one scheme. The case of the scheme's name does not matter (RFC 9110, 11.1). */
function authorization({ headers }: FastifyRequest, scheme: string): string | undefined {
  const { authorization = "" } = headers;
  const end = authorization.indexOf(" ");
  const credentials = authorization.slice(end + 1).trim();
  return authorization.slice(0, end).toLowerCase() === scheme && credentials !== "" ? credentials : undefined;
}

/** Compares in constant time. Both sides are hashed first, which gives them the same length. */
function same(presented: string, expected: Buffer): boolean {
  return timingSafeEqual(sha256(presented), expected);
}
