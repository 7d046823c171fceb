import type { FastifyInstance } from "fastify";
import { changedSettings } from "../../config/changed-settings.ts";
import { credentialNames } from "../../config/credential-names.ts";
import { type AuthEntry, type Config, checkConfig, MAIN_PROFILE } from "../../config/index.ts";
import { assertAdministering } from "../../http-server/callers/rights.ts";
import type { ConfigSource } from "../../http-server/start-log.ts";
import type { Engine } from "../../models/engine.ts";
import { describeModel } from "../../models/model-description.ts";
import { modelNames } from "../../scanners/model-names.ts";
import { version } from "../../support/version.ts";
import { describeScanners } from "../callers/describe-profile.ts";
import type { Profiles } from "../callers/profiles.ts";
import { hashOf } from "../decisions/audit.ts";
import { adminProblems } from "../http/problem-replies.ts";
import { serverConfigExample } from "../schemas/console.ts";
import { jsonReply } from "./replies.ts";

export interface ConfigRouteOptions {
  config: Config;
  profiles: Profiles;
  engine: Engine;
  /** Where the configuration comes from; undefined if a program has passed it. */
  source: ConfigSource | undefined;
  /** The warnings of the start. */
  warnings: readonly string[];
  /** Number of processes. */
  processes: number;
  /** When the process started, in milliseconds since 1970. */
  startedAt: number;
}

/** `GET /admin/config`: what runs, and from where. It shows no secrets. */
export async function configRoute(app: FastifyInstance, options: ConfigRouteOptions): Promise<void> {
  app.get("/admin/config", {
    config: { problems: adminProblems },
    schema: {
      tags: ["Admin"],
      operationId: "admin_config",
      summary: "The configuration in use, with its scanners, models and warnings",
      response: jsonReply("ServerConfig", serverConfigExample),
    },
    onRequest: async ({ rights }) => assertAdministering(rights),
    handler: async () => describeServer(options),
  });
}

function describeServer({ config, profiles, engine, source, warnings, processes, startedAt }: ConfigRouteOptions) {
  const scanners = profiles.all.flatMap(({ service: { lists } }) => [...lists.input, ...lists.output]);
  const models = [...new Set(scanners.flatMap(modelNames))].sort().map((name) => describeModel(name, engine));
  return {
    version,
    node: process.version,
    started: new Date(startedAt).toISOString(),
    processes,
    hash: hashOf(config),
    file: source?.file ?? null,
    from: source?.from ?? null,
    warnings,
    profiles: profiles.all.map(({ name, service }) => ({ name, scanners: describeScanners(service) })),
    models: models.map(({ model, here, size, license }) => ({ model, here, size, license })),
    credentials: describeCredentials(config.auth ?? []),
    exceptions: describeExceptions(profiles),
    settings: changedSettings(config, checkConfig({})),
  };
}

/** Describes the exceptions of all profiles, without the texts that they let pass. */
function describeExceptions({ all }: Profiles) {
  const listed = all.flatMap(({ service }) => service.exceptions?.list() ?? []);
  return [...new Map(listed.map((one) => [one.id, one])).values()].map(
    ({ id, scanners, reason, expires, isExpired, origin }) => ({
      ...{ id, scanners, reason, expires, origin },
      is_expired: isExpired,
    }),
  );
}

function describeCredentials(entries: readonly AuthEntry[]) {
  const names = credentialNames(entries);
  return entries.flatMap((entry, index) => {
    const rights: [name: string, isGranted: boolean | undefined][] = [
      ["administer", entry.mayAdminister],
      ["suppress", entry.maySuppress],
      ["add_recognizers", entry.mayAddRecognizers],
      ["add_exceptions", entry.mayAddExceptions],
      ["review", entry.mayReview],
      ["choose", (entry.mayChoose ?? []).length > 0],
    ];
    const may = rights.flatMap(([name, isGranted]) => (isGranted ? [name] : []));
    const { type, profile = MAIN_PROFILE } = entry;
    return (names[index] ?? []).map((name) => ({ name, type, profile, may }));
  });
}
