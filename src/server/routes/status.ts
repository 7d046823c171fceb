import type { FastifyInstance } from "fastify";
import type { Profiles } from "../callers/profiles.ts";
import { notReadyProblems } from "../http/problem-replies.ts";
import type { WorkerPool } from "../process/process-state.ts";
import type { RedisLinks } from "../redis/redis-link.ts";
import { jsonReply } from "./replies.ts";

export interface StatusOptions {
  profiles: Profiles;
  pool?: WorkerPool | undefined;
  redis: Pick<RedisLinks, "states">;
}

/** `GET /healthz` and `GET /readyz`: liveness, and readiness for scans. Both are public. */
export async function statusRoutes(app: FastifyInstance, { profiles, pool, redis }: StatusOptions): Promise<void> {
  app.get("/healthz", {
    config: { public: true },
    schema: {
      tags: ["Status"],
      operationId: "healthz",
      summary: "Liveness of the process",
      security: [],
      response: jsonReply("Status", { status: "alive" }),
    },
    handler: async () => ({ status: "alive" }),
  });

  app.get("/readyz", {
    config: { public: true, problems: notReadyProblems },
    schema: {
      tags: ["Status"],
      operationId: "readyz",
      summary: "Readiness: the models are loaded and scans are accepted",
      security: [],
      response: jsonReply("Status", { status: "ready" }),
    },
    handler: async () => {
      const notReady = pool ? await pool.notReady() : profiles.notReady;
      if (notReady) throw notReady;
      // The server is ready without Redis too; see `rate_limit.on_redis_error`.
      const { states } = redis;
      if (states.length === 0) return { status: "ready" };
      return { status: "ready", redis: states.every(([, isUp]) => isUp) ? "up" : "down" };
    },
  });
}
