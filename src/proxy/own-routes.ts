import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ProxyGuard } from "./settings.ts";

/** The paths of guard's own routes, which are those of its server. */
export const OWN_PATHS: readonly string[] = ["/healthz", "/readyz", "/metrics"];

/** Tells whether a request is to one of guard's own routes. */
export function isOwn({ routeOptions }: FastifyRequest): boolean {
  return OWN_PATHS.includes(routeOptions.url ?? "");
}

/** Adds guard's own routes: whether the process lives, whether it can judge calls, and metrics for Prometheus. */
export async function ownRoutes(
  app: FastifyInstance,
  { guard, paths }: { guard: ProxyGuard; paths: readonly string[] },
): Promise<void> {
  const { ready, registry } = guard;
  if (paths.includes("/healthz")) {
    app.get("/healthz", { config: { public: true } }, async () => ({ status: "alive" }));
  }
  if (paths.includes("/readyz")) {
    app.get("/readyz", { config: { public: true } }, async () => {
      await ready();
      return { status: "ready" };
    });
  }
  if (paths.includes("/metrics")) {
    app.get("/metrics", async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  }
}
