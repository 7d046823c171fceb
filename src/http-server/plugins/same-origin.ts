import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { isLoopback } from "../../config/safe-address.ts";
import { Problem } from "../problem.ts";

export interface SameOriginOptions {
  /** Names and addresses that requests may have in `Host` besides those of this machine. */
  allowedHosts: readonly string[];
}

/**
 * Protects a server without credentials from pages in a browser on the same machine. A page can send requests to every address of the
 * machine, so a request is refused if `Origin` or `Sec-Fetch-Site` (Fetch Metadata) names another site. A page whose name resolves to this
 * machine has the same origin (DNS rebinding), so `Host` must be a name of this machine or one of `allowedHosts`.
 */
export const sameOrigin = fp(async (app: FastifyInstance, { allowedHosts }: SameOriginOptions) => {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  app.addHook("onRequest", (request, _reply, done) => {
    // No page reaches a Unix socket, whose clients name any host.
    if (request.socket.remoteAddress === undefined) return done();
    const { host, origin, "sec-fetch-site": site } = request.headers;
    // A client of HTTP/1.0 may send no Host.
    const own = host === undefined ? undefined : urlOf(`http://${host}`);
    if (host !== undefined) {
      const name = own?.hostname.replace(/^\[|\]$/g, "");
      if (name === undefined || !(isLoopback(name) || allowed.has(name))) {
        return done(new Problem(421, "Without auth, Host must name this machine, or be one of app.allowed_hosts."));
      }
    }
    const isOfAnother = origin !== undefined && (own === undefined || urlOf(origin)?.host !== own.host);
    if (isOfAnother || site === "cross-site") {
      return done(new Problem(403, "Without auth, pages of other origins may not send requests."));
    }
    done();
  });
});

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
