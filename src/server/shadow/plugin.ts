import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { Registry } from "prom-client";
import { assertAdministering } from "../../http-server/callers/rights.ts";
import type { Decisions } from "../decisions/decisions.ts";
import { notAdministering } from "../http/problem-replies.ts";
import type { Together } from "../process/process-state.ts";
import { jsonReply } from "../routes/replies.ts";
import { namedSchemas } from "../schemas/named.ts";
import { shadowExample, shadowSummary } from "../schemas/shadow.ts";
import type { IdlePlace } from "./idle-queue.ts";
import { mergedSummaries } from "./merged.ts";
import type { Shadow } from "./shadow.ts";
import { ShadowMetrics } from "./shadow-metrics.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What the shadow does when the answer to this request is out; null where it does nothing. */
    shadowed: IdlePlace[] | null;
  }
}

/** What the plugin needs. */
export interface ShadowPluginOptions {
  shadow: Shadow;
  decisions: Decisions;
  registry: Registry;
  /** The processes whose shadows are told of together. */
  together?: Together | undefined;
}

/** Lets the shadow judge what was decided once the answers are out, and tells of it: metrics, and `GET /admin/shadow`. */
export const shadowPlugin = fp(
  async (app: FastifyInstance, { shadow, decisions, registry, together }: ShadowPluginOptions) => {
    const metrics = ShadowMetrics.in(registry);
    shadow.listen({
      onResult: (result) => metrics.countScan(result),
      onDifference: (side, difference) => metrics.countDifference(side, difference),
      onFailure: (kind) => app.log.warn({ kind }, "the shadow gives errors; no request notices"),
    });
    app.decorateRequest("shadowed", null);
    decisions.listen((decision) => {
      const place = shadow.choose(decision);
      if (!place) return;
      decision.request.shadowed ??= [];
      decision.request.shadowed.push(place);
    });
    // Also called for a request whose client has gone.
    app.addHook("onResponse", async (request) => {
      for (const place of request.shadowed ?? []) place.begin();
      request.shadowed = null;
    });
    let closing: Promise<void> | undefined;
    app.addHook("preClose", async () => {
      // Requests that are under way must not wait for this.
      closing = shadow.close();
    });
    app.addHook("onClose", async () => closing);

    // Only servers with a shadow describe it.
    for (const schema of namedSchemas({ ShadowSummary: shadowSummary }, "output")) app.addSchema(schema);
    app.get("/admin/shadow", {
      config: { problems: notAdministering },
      schema: {
        tags: ["Admin"],
        operationId: "admin_shadow",
        summary: "What the shadow configuration would change",
        response: jsonReply("ShadowSummary", shadowExample),
      },
      onRequest: async ({ rights }) => assertAdministering(rights),
      handler: async ({ credential }) =>
        together ? mergedSummaries(await together.shadows(credential?.id)) : shadow.summary(credential?.id),
    });
  },
);
