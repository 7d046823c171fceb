import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import fp from "fastify-plugin";
import { Problem } from "../../http-server/problem.ts";
import { lazy } from "../../support/lazy.ts";
import { unmetNeed } from "../../support/optional-packages.ts";
import type { ProblemReplies } from "../http/problem-replies.ts";
import type { DescriptionOptions } from "./openapi-description.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The problems of a route by status. */
    problems?: ProblemReplies;
    /** An example body for the API description. */
    requestExample?: unknown;
    /** An example body in NDJSON, for routes that accept it. */
    requestLines?: string;
  }
}

/** Headers of a connection, and one that the server sets itself. They are not copied. */
const CONNECTION_HEADERS = ["connection", "date", "keep-alive", "transfer-encoding"];

/**
 * Serves the API description (OpenAPI 3.1) at `/openapi.json`, made from the schemas of the routes, and Swagger UI at `/docs`. Both are
 * created on first use, because they slow down the start and most servers never need them.
 */
export const openapi = fp(async (app: FastifyInstance, options: Omit<DescriptionOptions, "hasPage">) => {
  const routes: RouteOptions[] = [];
  app.addHook("onRoute", (route) => {
    const { hide = false } = (route.schema ?? {}) as { hide?: boolean };
    if (route.method !== "HEAD" && !hide) routes.push(route);
  });
  const pageNeed = lazy(() => unmetNeed(["@fastify/swagger-ui"]));
  const describe = lazy(async () => {
    const { describeApi } = await import("./openapi-description.ts");
    return describeApi(app.getSchemas(), routes, { ...options, hasPage: pageNeed() === undefined });
  });
  const isPublic = { config: { public: true }, schema: { hide: true } };
  app.get("/openapi.json", isPublic, async () => (await describe()).swagger());
  const page = async ({ raw, headers }: FastifyRequest, reply: FastifyReply) => {
    const need = pageNeed();
    if (need !== undefined) throw new Problem(501, `The page at /docs ${need}`);
    const answer = await (await describe()).inject({ method: "GET", url: raw.url ?? "/docs", headers });
    for (const [name, value] of Object.entries(answer.headers)) {
      if (!CONNECTION_HEADERS.includes(name)) reply.header(name, value);
    }
    return reply.code(answer.statusCode).send(answer.rawPayload);
  };
  for (const path of ["/docs", "/docs/*"]) app.get(path, isPublic, page);
});
