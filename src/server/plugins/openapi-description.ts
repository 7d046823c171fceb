import { isDeepStrictEqual } from "node:util";
import swagger from "@fastify/swagger";
import fastify, { type FastifyInstance, type RouteOptions } from "fastify";
import type { AuthEntry } from "../../config/index.ts";
import { headerProblems, unreadableProblems } from "../http/problem-replies.ts";
import { problemReplies } from "../routes/replies.ts";

/** What the API's description says besides its routes. */
export interface DescriptionOptions {
  /** The name of the service. */
  title: string;
  /** The version of guard. */
  version: string;
  /** The credentials that the service takes. */
  auth: readonly AuthEntry[];
  /** Whether there is a page at `/docs`, which needs the package of Swagger UI. */
  hasPage: boolean;
}

const TAGS = [
  { name: "Analyze", description: "Checks texts, rewrites them where a scanner does that, and gives them back." },
  { name: "Scan", description: "Checks texts and rewrites nothing." },
  { name: "Status", description: "Who the service is, and how it fares." },
  { name: "Admin", description: "For operators." },
];

/**
 * Makes a server that describes the routes of another, and has the page at `/docs` that shows the description. It keeps the names of
 * schemas that were added to the other server.
 */
export async function describeApi(
  schemas: Record<string, unknown>,
  routes: readonly RouteOptions[],
  { title, version, auth, hasPage }: DescriptionOptions,
): Promise<FastifyInstance> {
  const app = fastify({ exposeHeadRoutes: false });
  for (const schema of Object.values(schemas)) app.addSchema(schema);
  const securitySchemes = schemesOf(auth);
  /** The bodies of example requests by the ids of their operations: the plugin has no place for them in a route's schema. */
  const requestExamples = new Map<string, Record<string, unknown>>();
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title, version, description: "Checks prompts, conversations and outputs of large language models." },
      tags: TAGS,
      components: { securitySchemes },
      security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    },
    refResolver: { buildLocalReference: ({ $id }) => $id as string },
    // Problems are described here, not in the routes' schemas: Fastify would compile a serializer for each of them.
    transform: ({ schema, url, route }) => {
      const { problems = {}, problemBody, requestExample, requestLines } = route.config ?? {};
      const { operationId } = (schema ?? {}) as { operationId?: string };
      if (operationId && requestExample) {
        requestExamples.set(operationId, { "application/json": requestExample, "application/x-ndjson": requestLines });
      }
      const replies = {
        ...problemReplies(unreadableProblems),
        ...problemReplies({ ...headerProblems, ...problems }, problemBody),
      };
      return { url, schema: { ...schema, response: { ...(schema?.response as object), ...replies } } };
    },
    transformObject: (document) => {
      if (!("openapiObject" in document)) return document.swaggerObject;
      for (const path of Object.values(document.openapiObject.paths ?? {})) {
        for (const { operationId, requestBody } of [path?.get, path?.post].filter(
          (operation) => operation !== undefined,
        )) {
          const example = requestExamples.get(operationId ?? "");
          if (!example || !requestBody || !("content" in requestBody)) continue;
          for (const [type, media] of Object.entries(requestBody.content)) media.example = example[type];
        }
      }
      return document.openapiObject;
    },
  });
  if (hasPage) {
    const { default: swaggerUi } = await import("@fastify/swagger-ui");
    await app.register(swaggerUi, { routePrefix: "/docs", staticCSP: DOCS_POLICY });
  }
  for (const { method, url, schema, config } of routes) {
    app.route({
      ...{ method, url, ...(schema && { schema }), ...(config && { config }) },
      handler: async () => {},
      // Nobody calls these routes, so that nothing of theirs is compiled.
      validatorCompiler: () => () => true,
      serializerCompiler: () => () => "",
    });
  }
  await app.ready();
  return app;
}

/**
 * The content security policy of the page at /docs: it loads nothing from other hosts. The plugin's own policy would also turn
 * requests into https, which a server on plain http does not answer.
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

/**
 * The security schemes by name. Two bearer tokens are one scheme. Keys in two headers are two schemes, of which the second has a
 * number: `api_key`, `api_key_2`.
 */
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
