import type { FastifyInstance } from "fastify";
import type { AuthEntry } from "../../config/index.ts";
import { named } from "../schemas/named.ts";
import { pageFor, pageRoutes, SECURITY_HEADERS } from "./page.ts";

export interface RootRouteOptions {
  /** The name of the service. */
  name: string;
  /** The console has input fields for these credentials. */
  auth: readonly AuthEntry[];
  /** Number of user messages in the window, in which the console shows findings. */
  window: number;
}

/** `GET /`: the name of the service in JSON; for browsers, the console. Both are public. */
export async function rootRoute(app: FastifyInstance, { name, auth, window }: RootRouteOptions): Promise<void> {
  const page = pageFor({ name, schemes: auth, window });
  const json = { schema: named("ServiceName"), example: { name: "LLM Guard API" } };
  const html = { schema: { type: "string" }, example: "<!doctype html>…" };
  app.get("/", {
    config: { public: true },
    schema: {
      tags: ["Status"],
      operationId: "root",
      summary: "Name of the service; for browsers, a console to try scans",
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
 * Returns whether the Accept header (RFC 9110, section 12.5.1) names HTML, as that of browsers does, with at least the quality of JSON.
 * Wildcards mean JSON.
 */
export function prefersHtml(accept = ""): boolean {
  const quality = (mediaType: string) => {
    for (const range of accept.toLowerCase().split(",")) {
      const [type, ...parameters] = range.split(";").map((part) => part.trim());
      if (type !== mediaType) continue;
      const q = parameters.find((parameter) => parameter.startsWith("q="));
      return q === undefined ? 1 : Number(q.slice("q=".length)) || 0;
    }
    return 0;
  };
  const html = quality("text/html");
  return html > 0 && html >= quality("application/json");
}
