import type { FastifyInstance } from "fastify";
import type { AuthEntry } from "../../config/index.ts";
import { named } from "../schemas/named.ts";
import { pageFor, pageRoutes, SECURITY_HEADERS } from "./page.ts";

/** What the route needs. */
export interface RootRouteOptions {
  /** The name of the service. */
  name: string;
  /** The credentials that the service takes: the page has fields for them. */
  auth: readonly AuthEntry[];
  /** How many user messages are scanned together: the page shows findings in each of them. */
  window: number;
}

/** `GET /`: the name of the service in JSON, and for browsers a page in which a text can be tried. Both are public. */
export async function rootRoute(app: FastifyInstance, { name, auth, window }: RootRouteOptions): Promise<void> {
  const page = pageFor({ name, schemes: auth, window });
  const json = { schema: named("ServiceName"), example: { name: "LLM Guard API" } };
  const html = { schema: { type: "string" }, example: "<!doctype html>…" };
  app.get("/", {
    config: { public: true },
    schema: {
      tags: ["Status"],
      operationId: "root",
      summary: "Name of the service; for browsers, a page in which a text can be tried",
      security: [],
      response: { 200: { description: "OK", content: { "application/json": json, "text/html": html } } },
    },
    handler: async ({ headers }, reply) => {
      reply.header("vary", "accept");
      if (!prefersHtml(headers.accept)) return { name };
      return reply
        .headers(SECURITY_HEADERS)
        .type("text/html; charset=utf-8")
        .serializer((text: unknown) => text as string)
        .send(page);
    },
  });
  await app.register(pageRoutes);
}

/**
 * Whether a client names HTML in its Accept header (RFC 9110, 12.5.1), as browsers do, and likes it no less than JSON. Clients
 * that take anything get JSON.
 */
export function prefersHtml(accept = ""): boolean {
  const quality = (wanted: string) => {
    for (const range of accept.toLowerCase().split(",")) {
      const [type, ...parameters] = range.split(";").map((part) => part.trim());
      if (type !== wanted) continue;
      const q = parameters.find((parameter) => parameter.startsWith("q="));
      return q === undefined ? 1 : Number(q.slice("q=".length)) || 0;
    }
    return 0;
  };
  const html = quality("text/html");
  return html > 0 && html >= quality("application/json");
}
