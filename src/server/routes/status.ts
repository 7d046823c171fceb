import type { FastifyInstance } from "fastify";
import type { Profiles } from "../callers/profiles.ts";
import { notReadyProblems } from "../http/problem-replies.ts";
import type { WorkerPool } from "../process/process-state.ts";
import { jsonReply } from "./replies.ts";

/** `GET /healthz` and `GET /readyz`: liveness, and readiness for scans. Both are public. */
export async function statusRoutes(
  app: FastifyInstance,
  { profiles, pool }: { profiles: Profiles; pool?: WorkerPool | undefined },
): Promise<void> {
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
      return { status: "ready" };
    },
  });
}
