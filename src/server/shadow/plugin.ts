import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import type { Registry } from "prom-client";
import { assertAdministering } from "../../http-server/callers/rights.ts";
import type { Decisions } from "../decisions/decisions.ts";
import { adminProblems } from "../http/problem-replies.ts";
import type { WorkerPool } from "../process/process-state.ts";
import { jsonReply } from "../routes/replies.ts";
import { namedSchemas } from "../schemas/named.ts";
import { shadowExample, shadowSummary } from "../schemas/shadow.ts";
import type { IdleSlot } from "./idle-queue.ts";
import { mergeSummaries } from "./merge-summaries.ts";
import type { Shadow } from "./shadow.ts";
import { ShadowMetrics } from "./shadow-metrics.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Scans of the shadow that start after the response. */
    shadowScans: IdleSlot[] | null;
  }
}

export interface ShadowPluginOptions {
  shadow: Shadow;
  decisions: Decisions;
  registry: Registry;
  /** All processes, whose summaries are merged. */
  pool?: WorkerPool | undefined;
}

/** Passes decisions to the shadow after their responses, and reports results in metrics and `GET /admin/shadow`. */
export const shadowPlugin = fp(
  async (app: FastifyInstance, { shadow, decisions, registry, pool }: ShadowPluginOptions) => {
    const metrics = ShadowMetrics.in(registry);
    shadow.listen({
      onResult: (result) => metrics.countScan(result),
      onDifference: (side, difference) => metrics.countDifference(side, difference),
      onFailure: (kind) => app.log.warn({ kind }, "the shadow fails; requests are not affected"),
    });
    app.decorateRequest("shadowScans", null);
    decisions.listen((decision) => {
      const slot = shadow.sample(decision);
      if (!slot) return;
      decision.request.shadowScans ??= [];
      decision.request.shadowScans.push(slot);
    });
    // This hook also runs if the client has disconnected.
    app.addHook("onResponse", async (request) => {
      for (const slot of request.shadowScans ?? []) slot.enqueue();
      request.shadowScans = null;
    });
    let closing: Promise<void> | undefined;
    app.addHook("preClose", async () => {
      // Requests in progress must not wait for this.
      closing = shadow.close();
    });
    app.addHook("onClose", async () => closing);

    // The API description of other servers has no shadow.
    for (const schema of namedSchemas({ ShadowSummary: shadowSummary }, "output")) app.addSchema(schema);
    app.get("/admin/shadow", {
      config: { problems: adminProblems },
      schema: {
        tags: ["Admin"],
        operationId: "admin_shadow",
        summary: "What the shadow configuration would change",
        response: jsonReply("ShadowSummary", shadowExample),
      },
      onRequest: async ({ rights }) => assertAdministering(rights),
      handler: async ({ credential }) =>
        pool ? mergeSummaries(await pool.shadows(credential?.id)) : shadow.summary(credential?.id),
    });
  },
);
