import type { FastifyInstance } from "fastify";
import fp from "fastify-plugin";
import { assertAdministering } from "../../http-server/callers/rights.ts";
import type { Decisions } from "../decisions/decisions.ts";
import { adminProblems } from "../http/problem-replies.ts";
import type { WorkerPool } from "../process/process-state.ts";
import type { RedisLink } from "../redis/redis-link.ts";
import { jsonReply } from "../routes/replies.ts";
import { trafficExample } from "../schemas/console.ts";
import type { SharedTraffic } from "./shared-traffic.ts";
import { KEPT_MINUTES, mergeTraffic, minutesOf, type Traffic } from "./traffic.ts";

export interface TrafficPluginOptions {
  traffic: Traffic;
  decisions: Decisions;
  /** All processes, whose counts are merged. */
  pool?: WorkerPool | undefined;
  /** The counts of all instances, and the Redis that they share, if configured. */
  shared: SharedTraffic;
  link?: RedisLink | undefined;
  /** Whether scanned texts may be shown. */
  logContent: boolean;
}

/** The ranges that a client may ask for, in minutes. */
const RANGES = [15, 60, KEPT_MINUTES];
const DEFAULT_RANGE = 60;

/** Counts decisions and errors by minute, and shows them at `GET /admin/traffic`. */
export const trafficPlugin = fp(async (app: FastifyInstance, options: TrafficPluginOptions) => {
  const { traffic, decisions, pool, shared, link, logContent } = options;
  if (link) {
    app.addHook("onReady", async () => shared.attach(link));
    app.addHook("onClose", () => shared.detach(link));
  }
  decisions.listen((decision) => traffic.countDecision(decision, logContent));
  app.addHook("onResponse", (request, reply, done) => {
    const { config, url = "" } = request.routeOptions;
    const isScan = request.method === "POST" && !config.public && !request.is404 && !url.startsWith("/admin/");
    if (reply.statusCode >= 400 && isScan) traffic.countError(reply.statusCode);
    done();
  });
  app.get("/admin/traffic", {
    config: { problems: adminProblems },
    schema: {
      tags: ["Admin"],
      operationId: "admin_traffic",
      summary: "Decisions of the last minutes, by minute, scanner, source, credential and profile",
      querystring: {
        type: "object",
        properties: {
          minutes: {
            type: "string",
            enum: RANGES.map(String),
            description: `The number of minutes. Default: ${DEFAULT_RANGE}.`,
          },
        },
      },
      response: jsonReply("Traffic", trafficExample),
    },
    onRequest: async ({ rights }) => assertAdministering(rights),
    handler: async ({ query, credential }) => {
      const minutes = Number((query as { minutes?: string }).minutes ?? DEFAULT_RANGE);
      const all = pool ? await pool.traffic(minutes, credential?.id) : [traffic.counts(minutes, credential?.id)];
      const merged = mergeTraffic(all);
      const summed = link && (await shared.read(minutes));
      const counts = summed?.counts ?? merged;
      const { scanners = {}, sources = {}, credentials = {}, profiles = {}, errors = {} } = counts.sums;
      return {
        since: new Date(merged.since).toISOString(),
        has_texts: logContent,
        instances: summed?.instances ?? 1,
        ...(link ? { redis: summed ? "up" : "down" } : {}),
        minutes: minutesOf(counts, minutes),
        ...{ scanners, sources, credentials, profiles, errors },
        decisions: merged.decisions
          .map(({ time, ...rest }) => ({ time: new Date(time).toISOString(), ...rest }))
          .reverse(),
      };
    },
  });
});
