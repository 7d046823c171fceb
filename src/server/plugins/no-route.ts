import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { Problem } from "../../http-server/problem.ts";

/**
 * Refuses requests for what is not there: another method of a path that exists with status 405 and `Allow` (RFC 9110, section 15.5.6), all
 * others with 404. It looks at no body: what is wrong with that is of no interest then. It has to be registered before the routes.
 */
export const noRoute = fp(async (app: FastifyInstance) => {
  /** The methods of paths without parameters, and of patterns with some. */
  const paths = new Map<string, Set<string>>();
  const patterns = new Map<string, RegExp>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = paths.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    paths.set(url, known);
    if (/[:*]/.test(url)) patterns.set(url, patternOf(url));
  });
  const methodsOf = (path: string): Set<string> | undefined => {
    const pattern = [...patterns].find(([url, pattern]) => !url.includes("*") && pattern.test(path));
    return paths.get(path) ?? (pattern && paths.get(pattern[0]));
  };

  app.addHook("onRequest", (request, _reply, done) => {
    if (!request.is404) return done();
    const allowed = methodsOf(decoded(request.url.split("?", 1)[0] as string));
    if (!allowed) throw new Problem(404, "There is nothing here.");
    const list = [...allowed];
    throw new Problem(405, `Use ${list.join(" or ")}.`, { headers: { allow: list.join(", ") } });
  });
});

function patternOf(url: string): RegExp {
  const parts = url.split("/").map((part) => (part.startsWith(":") ? "[^/]+" : part.replaceAll(/[^\w-]/g, "\\$&")));
  return new RegExp(`^${parts.join("/")}$`);
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
