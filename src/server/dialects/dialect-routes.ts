import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { DialectName } from "../../config/dialects.ts";
import { type LocalCallOptions, LocalGuard, type ScanRecord } from "../../guard/local-guard.ts";
import { disconnectSignal } from "../../support/disconnect.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { callerOf } from "../callers/caller.ts";
import type { Decisions } from "../decisions/decisions.ts";
import { notReadyProblems, scanProblems } from "../http/problem-replies.ts";
import type { VaultSeal } from "../vault/vault-seal.ts";
import type { Dialect, DialectCall, Endpoint } from "./dialect.ts";
import { DIALECTS } from "./index.ts";

export interface DialectRoutesOptions {
  decisions: Decisions;
  seal: VaultSeal;
  /** Only these dialects are loaded. */
  names: readonly DialectName[];
}

/** Adds the endpoints of the configured dialects. */
export async function dialectRoutes(
  app: FastifyInstance,
  { decisions, seal, names }: DialectRoutesOptions,
): Promise<void> {
  const owners = new Map<string, DialectName>();
  for (const name of new Set(names)) {
    const dialect = await DIALECTS[name]();
    for (const path of pathsOf(dialect)) {
      const other = owners.get(path);
      const message = `${name} and ${other} have the same path ${path}: choose one of them`;
      if (other) throw new GuardValidationError([{ path: `dialects.${names.indexOf(name)}`, message }]);
      owners.set(path, name);
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
      summary: "Readiness: the models are loaded and scans are accepted",
      security: [],
      response: { 200: { description: "OK", content: { "application/json": { schema: {}, example: body } } } },
    },
    config: { public: true, problems: notReadyProblems, ...(bodyOf ? { problemBody: bodyOf } : {}) },
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
      const callOptions = { signal: disconnectSignal(reply.raw), observer, ...callerOf(request) };
      const vaults: DialectCall["vaults"] = {
        seal: (vault) => seal.seal(vault, credential),
        open: (token) => seal.open(token, credential),
      };
      const begin = (options: LocalCallOptions = {}) => {
        const { suppress = [], rewrite = true } = options;
        const offsets = "codePoint" as const;
        const requested = { suppress, offsets, rewrite };
        const onScanned = ({ content, ...scan }: ScanRecord) =>
          decisions.publish({ ...scan, request, profile, options: requested, content: () => content });
        return new LocalGuard(service, { onScan: onScanned }).call({ ...options, offsets, ...callOptions });
      };
      const { scanners, restores } = service;
      const call = { call: begin(), begin, headers: request.headers, scanners, restores, vaults };
      const { status = 200, body } = await answer(request.body, call);
      return reply.code(status).send(body);
    },
  });
}
