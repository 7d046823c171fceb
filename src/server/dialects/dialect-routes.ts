import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { DialectName } from "../../config/dialects.ts";
import { GuardValidationError } from "../../errors.ts";
import { type ServiceCallOptions, ServiceGuard } from "../../guard/service-guard.ts";
import { failingChecks } from "../../result-names.ts";
import type { ScanService } from "../../service.ts";
import { clientGone } from "../../support/client-gone.ts";
import type { Metrics } from "../plugins/app/metrics.ts";
import { notReady, scanProblems } from "../problem-replies.ts";
import type { VaultSeal } from "../vault-seal.ts";
import type { Dialect, DialectCall, Endpoint } from "./dialect.ts";
import { DIALECTS } from "./index.ts";

/** What the routes of dialects need. */
export interface DialectRoutesOptions {
  service: ScanService;
  metrics: Metrics;
  seal: VaultSeal;
  /** Whether the log may have the texts. */
  logContent: boolean;
  /** The dialects that the server speaks. The others are not even loaded. */
  names: readonly DialectName[];
}

/** Adds the endpoints of the dialects that the configuration names. */
export async function dialectRoutes(
  app: FastifyInstance,
  { service, metrics, seal, logContent, names }: DialectRoutesOptions,
): Promise<void> {
  const guard = new ServiceGuard(service, { onReport: (side, report) => metrics.countScan(side, report) });
  const speakers = new Map<string, DialectName>();
  for (const name of new Set(names)) {
    const dialect = await DIALECTS[name]();
    for (const path of pathsOf(dialect)) {
      const other = speakers.get(path);
      const message = `${name} and ${other} both answer ${path}: choose one of them`;
      if (other) throw new GuardValidationError([{ path: `dialects.${names.indexOf(name)}`, message }]);
      speakers.set(path, name);
    }
    const given = { guard, logContent, scanners: service.scanners, vaults: seal, restores: service.restores };
    for (const endpoint of dialect.endpoints) addEndpoint(app, name, dialect, endpoint, given);
    if (dialect.health) addHealth(app, name, dialect, dialect.health, service);
  }
}

function pathsOf({ endpoints, health }: Dialect): string[] {
  return [...endpoints.map(({ path }) => path), ...(health ? [health.path] : [])];
}

function addHealth(
  app: FastifyInstance,
  name: string,
  { summary, problem: bodyOf }: Dialect,
  { path, body }: NonNullable<Dialect["health"]>,
  service: ScanService,
): void {
  app.get(path, {
    schema: {
      tags: [summary],
      operationId: `${name}_health`,
      summary: "Whether the models are loaded and scans are taken",
      security: [],
      response: { 200: { description: "OK", content: { "application/json": { schema: {}, example: body } } } },
    },
    config: { public: true, problems: notReady, ...(bodyOf ? { problemBody: bodyOf } : {}) },
    handler: async () => {
      if (service.notReady) throw service.notReady;
      return body;
    },
  });
}

function addEndpoint(
  app: FastifyInstance,
  name: string,
  { summary, problem: bodyOf }: Dialect,
  { path, body, example, answer, ...described }: Endpoint,
  {
    guard,
    logContent,
    ...ofServer
  }: { guard: ServiceGuard; logContent: boolean } & Pick<DialectCall, "scanners" | "vaults" | "restores">,
): void {
  const { $schema: _, ...schema } = z.toJSONSchema(body, { target: "draft-7", io: "input" });
  const json = { schema: {}, example: example.reply };
  app.post(path, {
    schema: {
      tags: [summary],
      operationId: `${name}${path.replaceAll(/[^A-Za-z0-9]+/g, "_")}`,
      summary: described.summary,
      body: schema,
      response: { 200: { description: "OK", content: { "application/json": json } } } as Record<number, unknown>,
    },
    config: { problems: scanProblems, ...(bodyOf ? { problemBody: bodyOf } : {}), requestExample: example.request },
    handler: async (request, reply) => {
      const given = { signal: clientGone(reply.raw), observer: request.scanObserver };
      const begin = (options: ServiceCallOptions = {}) => guard.call({ ...options, ...given });
      const asked = { call: begin(), begin, headers: request.headers, ...ofServer };
      const { status = 200, body, reports } = await answer(request.body, asked);
      request.scanLog = {
        valid: reports.every(({ isValid }) => isValid),
        flagged: [...new Set(reports.flatMap(({ resultsScore }) => failingChecks(resultsScore)))],
        ...(logContent ? { content: request.body } : {}),
      };
      return reply.code(status).send(body);
    },
  });
}
