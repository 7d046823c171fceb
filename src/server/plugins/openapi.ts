import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import fp from "fastify-plugin";
import { Problem } from "../../http-server/problem.ts";
import { lazy } from "../../support/lazy.ts";
import { unmetNeed } from "../../support/optional-packages.ts";
import type { ProblemReplies } from "../http/problem-replies.ts";
import type { DescriptionOptions } from "./openapi-description.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The problems that a route may answer with, by status. */
    problems?: ProblemReplies;
    /** A body of a request, for the API's description. */
    requestExample?: unknown;
    /** A body of lines, for routes that take lines of JSON as well. */
    requestLines?: string;
  }
}

/** Headers that belong to a connection, and one that the server sets itself. */
const OF_CONNECTION = ["connection", "date", "keep-alive", "transfer-encoding"];

/**
 * The API's description (OpenAPI 3.1) at `/openapi.json`, made from the schemas of the routes, and a page at `/docs` that shows
 * it. Both are made for the first request: a server is ready sooner without, and most are never asked.
 */
export const openapi = fp(async (app: FastifyInstance, options: Omit<DescriptionOptions, "hasPage">) => {
  const routes: RouteOptions[] = [];
  app.addHook("onRoute", (route) => {
    const { hide = false } = (route.schema ?? {}) as { hide?: boolean };
    if (route.method !== "HEAD" && !hide) routes.push(route);
  });
  const pageNeed = lazy(() => unmetNeed(["@fastify/swagger-ui"]));
  const description = lazy(async () => {
    const { describeApi } = await import("./openapi-description.ts");
    return describeApi(app.getSchemas(), routes, { ...options, hasPage: pageNeed() === undefined });
  });
  const isOpen = { config: { public: true }, schema: { hide: true } };
  app.get("/openapi.json", isOpen, async () => (await description()).swagger());
  const page = async ({ raw, headers }: FastifyRequest, reply: FastifyReply) => {
    const need = pageNeed();
    if (need !== undefined) throw new Problem(501, `The page at /docs ${need}`);
    const answer = await (await description()).inject({ method: "GET", url: raw.url ?? "/docs", headers });
    for (const [name, value] of Object.entries(answer.headers)) {
      if (!OF_CONNECTION.includes(name)) reply.header(name, value);
    }
    return reply.code(answer.statusCode).send(answer.rawPayload);
  };
  for (const path of ["/docs", "/docs/*"]) app.get(path, isOpen, page);
});
