import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { Problem } from "../../http-server/problem.ts";

/**
 * Refuses requests that no route handles, before their bodies are read: 405 with `Allow` for another method of a known path (RFC 9110,
 * section 15.5.6), otherwise 404. Register it before the routes.
 */
export const unknownRoutes = fp(async (app: FastifyInstance) => {
  /** Methods by path or pattern. */
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
    const allowed = methodsOf(decodePath(request.url.split("?", 1)[0] as string));
    if (!allowed) throw new Problem(404, "There is no such path.");
    const list = [...allowed];
    throw new Problem(405, `Use ${list.join(" or ")}.`, { headers: { allow: list.join(", ") } });
  });
});

function patternOf(url: string): RegExp {
  const parts = url.split("/").map((part) => (part.startsWith(":") ? "[^/]+" : part.replaceAll(/[^\w-]/g, "\\$&")));
  return new RegExp(`^${parts.join("/")}$`);
}

function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
