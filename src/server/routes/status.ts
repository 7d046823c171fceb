import type { FastifyInstance } from "fastify";
import type { ScanService } from "../../service.ts";
import { notReady } from "../problem-replies.ts";
import { jsonReply } from "./replies.ts";

/** `GET /healthz` and `GET /readyz`: whether the process lives, and whether it takes scans. Both are public. */
export async function statusRoutes(app: FastifyInstance, { service }: { service: ScanService }): Promise<void> {
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
      if (service.notReady) throw service.notReady;
      return { status: "ready" };
    },
  });
}
