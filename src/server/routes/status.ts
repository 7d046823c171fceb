import type { FastifyInstance } from "fastify";
import type { Profiles } from "../callers/profiles.ts";
import { notReady } from "../http/problem-replies.ts";
import type { Together } from "../process/process-state.ts";
import { jsonReply } from "./replies.ts";

/** `GET /healthz` and `GET /readyz`: whether the process lives, and whether it takes scans. Both are public. */
export async function statusRoutes(
  app: FastifyInstance,
  { profiles, together }: { profiles: Profiles; together?: Together | undefined },
): Promise<void> {
  app.get("/healthz", {
    config: { public: true },
    schema: {
      tags: ["Status"],
      operationId: "healthz",
      summary: "Whether the process lives",
      security: [],
      response: jsonReply("Status", { status: "alive" }),
    },
    handler: async () => ({ status: "alive" }),
  });

  app.get("/readyz", {
    config: { public: true, problems: notReady },
    schema: {
      tags: ["Status"],
      operationId: "readyz",
      summary: "Whether the models are loaded and scans are taken",
      security: [],
      response: jsonReply("Status", { status: "ready" }),
    },
    handler: async () => {
      const notReady = together ? await together.notReady() : profiles.notReady;
      if (notReady) throw notReady;
      return { status: "ready" };
    },
  });
}
