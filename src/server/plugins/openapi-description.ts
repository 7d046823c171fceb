import { isDeepStrictEqual } from "node:util";
import swagger, { type FastifyDynamicSwaggerOptions } from "@fastify/swagger";
import fastify, { type FastifyInstance, type RouteOptions } from "fastify";
import type { AuthEntry } from "../../config/index.ts";
import { headerProblems, malformedProblems } from "../http/problem-replies.ts";
import { problemReplies } from "../routes/replies.ts";

export interface DescriptionOptions {
  /** The name of the service. */
  title: string;
  /** The version of guard. */
  version: string;
  auth: readonly AuthEntry[];
  /** Whether there is a page at `/docs`, which needs the package of Swagger UI. */
  hasPage: boolean;
}

const TAGS = [
  { name: "Analyze", description: "Check texts and return them, sanitized if a scanner rewrites them." },
  { name: "Scan", description: "Check texts without rewriting them." },
  { name: "Status", description: "Identity and state of the service." },
  { name: "Reviews", description: "For the people who decide about doubtful texts." },
  { name: "Admin", description: "For operators." },
];

/**
 * Creates a server that only describes the routes of another one, with Swagger UI at `/docs`.
 *
 * @param schemas the shared schemas of the other server, which keep their names in the description.
 */
export async function describeApi(
  schemas: Record<string, unknown>,
  routes: readonly RouteOptions[],
  { title, version, auth, hasPage }: DescriptionOptions,
): Promise<FastifyInstance> {
  const app = fastify({ exposeHeadRoutes: false });
  for (const schema of Object.values(schemas)) app.addSchema(schema);
  const securitySchemes = schemesOf(auth);
  /** Example bodies by operation id: a route's schema has no place for them. */
  const requestExamples = new Map<string, Record<string, unknown>>();
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title, version, description: "Checks prompts, conversations and outputs of large language models." },
      servers: [{ url: "/", description: "The server of this description." }],
      tags: TAGS,
      components: { securitySchemes },
      security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    },
    refResolver: { buildLocalReference: ({ $id }) => $id as string },
    // Problems are not part of the routes' schemas, because Fastify would compile a serializer for each of them.
    transform: ({ schema, url, route }) => {
      const { problems = {}, problemBody, requestExample, requestLines } = route.config ?? {};
      const { operationId } = (schema ?? {}) as { operationId?: string };
      if (operationId && requestExample) {
        requestExamples.set(operationId, { "application/json": requestExample, "application/x-ndjson": requestLines });
      }
      const replies = {
        ...problemReplies(malformedProblems),
        ...problemReplies({ ...headerProblems, ...problems }, problemBody),
      };
      return { url, schema: { ...schema, response: { ...(schema?.response as object), ...replies } } };
    },
    transformObject: (document) => {
      if (!("openapiObject" in document)) return document.swaggerObject;
      addExamples(document.openapiObject, requestExamples);
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
      // These routes are never called, so nothing needs to be compiled.
      validatorCompiler: () => () => true,
      serializerCompiler: () => () => "",
    });
  }
  await app.ready();
  return app;
}

/** The description of an API, as `@fastify/swagger` hands it on. */
type ApiDescription = Extract<
  Parameters<NonNullable<FastifyDynamicSwaggerOptions["transformObject"]>>[0],
  { openapiObject: unknown }
>["openapiObject"];

/** Adds example bodies to the operations of a description. */
function addExamples(
  { paths = {} }: ApiDescription,
  requestExamples: ReadonlyMap<string, Record<string, unknown>>,
): void {
  for (const path of Object.values(paths)) {
    for (const operation of [path?.get, path?.post]) {
      const example = requestExamples.get(operation?.operationId ?? "");
      const body = operation?.requestBody;
      if (!example || !body || !("content" in body)) continue;
      for (const [type, media] of Object.entries(body.content)) media.example = example[type];
    }
  }
}

/**
 * The content security policy of /docs, which loads nothing from other hosts. The default policy of the plugin would also upgrade
 * requests to https, which a server on plain http does not support.
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

/** Returns the distinct security schemes. Keys in two headers are two schemes: `api_key` and `api_key_2`. */
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
