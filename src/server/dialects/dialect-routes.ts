import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { DialectName } from "../../config/dialects.ts";
import { type EndedScan, type ServiceCallOptions, ServiceGuard } from "../../guard/service-guard.ts";
import { disconnectSignal } from "../../support/disconnect.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { callerOf } from "../callers/caller.ts";
import type { Decisions } from "../decisions/decisions.ts";
import { notReady, scanProblems } from "../http/problem-replies.ts";
import type { VaultSeal } from "../vault/vault-seal.ts";
import type { Dialect, DialectCall, Endpoint } from "./dialect.ts";
import { DIALECTS } from "./index.ts";

/** What the routes of dialects need. */
export interface DialectRoutesOptions {
  decisions: Decisions;
  seal: VaultSeal;
  /** The dialects that the server speaks. The others are not even loaded. */
  names: readonly DialectName[];
}

/** Adds the endpoints of the dialects that the configuration names. */
export async function dialectRoutes(
  app: FastifyInstance,
  { decisions, seal, names }: DialectRoutesOptions,
): Promise<void> {
  const speakers = new Map<string, DialectName>();
  for (const name of new Set(names)) {
    const dialect = await DIALECTS[name]();
    for (const path of pathsOf(dialect)) {
      const other = speakers.get(path);
      const message = `${name} and ${other} both answer ${path}: choose one of them`;
      if (other) throw new GuardValidationError([{ path: `dialects.${names.indexOf(name)}`, message }]);
      speakers.set(path, name);
    }
    for (const endpoint of dialect.endpoints) addEndpoint(app, name, dialect, endpoint, { decisions, seal });
    if (dialect.health) addHealth(app, name, dialect, dialect.health);
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
    handler: async ({ profile: { service } }) => {
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
  { decisions, seal }: Pick<DialectRoutesOptions, "decisions" | "seal">,
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
      const { profile, credential, scanObserver: observer } = request;
      const { service } = profile;
      const given = { signal: disconnectSignal(reply.raw), observer, ...callerOf(request) };
      const vaults: DialectCall["vaults"] = {
        seal: (vault) => seal.seal(vault, credential),
        open: (token) => seal.open(token, credential),
      };
      const begin = (options: ServiceCallOptions = {}) => {
        const { suppress = [], rewrite = true } = options;
        const offsets = "codePoint" as const;
        const asked = { suppress, offsets, rewrite };
        const onScanned = ({ content, ...scan }: EndedScan) =>
          decisions.tell({ ...scan, request, profile, asked, content: () => content });
        return new ServiceGuard(service, { onScanned }).call({ ...options, offsets, ...given });
      };
      const { scanners, restores } = service;
      const asked = { call: begin(), begin, headers: request.headers, scanners, restores, vaults };
      const { status = 200, body } = await answer(request.body, asked);
      return reply.code(status).send(body);
    },
  });
}
