import type { Config } from "../config/index.ts";
import { MAIN_PROFILE } from "../config/index.ts";
import { ScanMetrics } from "../http-server/metrics/scan-metrics.ts";
import { type ConfigSource, startLogLines } from "../http-server/start-log.ts";
import { createEngine, createService } from "../service/create-service.ts";
import { PolicyServer } from "./ext-mcp/policy-server.ts";
import { type ListenOptions, type RunningGrpcServer, startGrpcServer } from "./start-server.ts";

export interface ExtMcpOptions extends Omit<ListenOptions, "config"> {
  config: Config;
  source?: ConfigSource;
  /** See {@link McpGuardOptions.onFinding}. */
  onFinding?: "mask" | "block";
  /** Checks at the same time. Default: 256. */
  maxCalls?: number;
  /** Bytes of the largest message. Default: 4 MiB, the limit of most gRPC clients. */
  maxMessageSize?: number;
}

/** Starts a policy server of agentgateway for MCP as the program of this process. */
export async function startExtMcp(options: ExtMcpOptions): Promise<RunningGrpcServer> {
  const { config, source, onFinding = "mask", maxCalls = 256, maxMessageSize = 4_194_304, ...listen } = options;
  const engine = createEngine(config);
  const service = createService(config, { engine });
  const metrics = new ScanMetrics();
  metrics.watch([service], engine);
  const { registry } = metrics;
  const scanning = {
    registry,
    load: () => service.load(),
    async ready() {
      if (service.notReady) throw service.notReady;
    },
    async close() {
      await service.close();
      await engine.close();
    },
    warnings: [],
    logLines: startLogLines(source, new Map([[MAIN_PROFILE, service]]), engine),
  };
  return startGrpcServer(
    { ...listen, config },
    {
      guard: () => scanning,
      createHandler: ({ log }) =>
        new PolicyServer({ service, registry, log, auth: config.auth ?? [], onFinding, maxCalls }),
      maxMessageSize,
      maxStreams: 4 * maxCalls,
      fields: { onFinding },
    },
  );
}
