import type { FastifyInstance } from "fastify";
import type { AuthEntry } from "../../config/index.ts";
import { jsonReply } from "./replies.ts";

export interface RootRouteOptions {
  name: string;
  auth: readonly AuthEntry[];
  window: number;
}
export async function rootRoute(app: FastifyInstance, { name }: RootRouteOptions): Promise<void> {
  app.get("/", {
    config: { public: true },
    schema: {
      tags: ["Status"],
      operationId: "root",
      summary: "Name of the service",
      security: [],
      response: jsonReply("ServiceName", { name: "LLM Guard API" }),
    },
    handler: async () => ({ name }),
  });
}
