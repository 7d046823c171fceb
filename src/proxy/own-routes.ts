import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ProxyGuard } from "./settings.ts";

/** Routes of the proxy itself, which the scan API has too. */
export const OWN_PATHS: readonly string[] = ["/healthz", "/readyz", "/metrics"];

/** Returns whether a request is for a route of the proxy itself. */
export function isOwnRoute({ routeOptions }: FastifyRequest): boolean {
  return OWN_PATHS.includes(routeOptions.url ?? "");
}

/** Adds the routes of the proxy itself: liveness, readiness, and metrics for Prometheus. */
export async function ownRoutes(
  app: FastifyInstance,
  { guard, paths }: { guard: Pick<ProxyGuard, "ready" | "registry">; paths: readonly string[] },
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
