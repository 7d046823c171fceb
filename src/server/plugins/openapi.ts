import { isDeepStrictEqual } from "node:util";
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { AuthEntry } from "../../config/index.ts";
import { problemAnswers } from "../schemas.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The problems that a route may answer with, by status. */
    problems?: Record<number, string>;
  }
}

/** The API's description (OpenAPI 3.1), made from the routes' schemas, and a page that shows it. */
export const openapi = fp(
  async (
    app: FastifyInstance,
    { title, version, auth }: { title: string; version: string; auth: readonly AuthEntry[] },
  ) => {
    const securitySchemes = schemesOf(auth);
    await app.register(swagger, {
      openapi: {
        openapi: "3.1.0",
        info: { title, version, description: "Checks prompts, conversations and outputs of large language models." },
        components: { securitySchemes },
        security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
      },
      // Problems are described here, not in the routes' schemas: Fastify would compile a serializer for each of them.
      transform: ({ schema, url, route }) => {
        const problems = problemAnswers(route.config?.problems ?? {});
        return { url, schema: { ...schema, response: { ...(schema?.response as object), ...problems } } };
      },
    });
    await app.register(async (scope) => {
      scope.addHook("onRoute", (route) => {
        route.config = { ...route.config, public: true };
      });
      await scope.register(swaggerUi, { routePrefix: "/docs", staticCSP: DOCS_POLICY });
    });
    app.get("/openapi.json", { config: { public: true }, schema: { hide: true } }, async () => app.swagger());
  },
);

/**
 * The content security policy of the page at /docs: nothing from elsewhere. The one that the plugin has would also turn requests into
 * https, which a server behind plain http does not answer.
 */
const DOCS_POLICY = {
  "default-src": "'self'",
  "base-uri": "'self'",
  "img-src": ["'self'", "data:"],
  "font-src": ["'self'", "data:"],
  "object-src": "'none'",
  "script-src-attr": "'none'",
  "frame-ancestors": "'self'",
};

type SecurityScheme = { type: "http"; scheme: "bearer" | "basic" } | { type: "apiKey"; in: "header"; name: string };

/** The schemes by name: two tokens are one scheme, two headers are two, of which the second has a number. */
function schemesOf(auth: readonly AuthEntry[]): Record<string, SecurityScheme> {
  const schemes: Record<string, SecurityScheme> = {};
  for (const entry of auth) {
    const scheme = securityScheme(entry);
    if (Object.values(schemes).some((known) => isDeepStrictEqual(known, scheme))) continue;
    let name: string = entry.type;
    for (let count = 2; Object.hasOwn(schemes, name); count++) name = `${entry.type}_${count}`;
    schemes[name] = scheme;
  }
  return schemes;
}

function securityScheme(entry: AuthEntry): SecurityScheme {
  switch (entry.type) {
    case "http_bearer":
      return { type: "http", scheme: "bearer" };
    case "http_basic":
      return { type: "http", scheme: "basic" };
    case "api_key":
      return { type: "apiKey", in: "header", name: entry.header };
  }
}
