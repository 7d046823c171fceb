import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { DialectName } from "../../config/dialects.ts";
import { LocalGuard, type ScanRecord } from "../../guard/local-guard.ts";
import { disconnectSignal } from "../../support/disconnect.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { callerOf } from "../callers/caller.ts";
import type { Profiles } from "../callers/profiles.ts";
import type { Decisions } from "../decisions/decisions.ts";
import { authProblems, notReadyProblems, scanProblems } from "../http/problem-replies.ts";
import type { VaultSeal } from "../vault/vault-seal.ts";
import type { Dialect, DialectCall, DialectCallOptions, Endpoint, ListEndpoint } from "./dialect.ts";
import { DIALECTS } from "./index.ts";

export interface DialectRoutesOptions {
  decisions: Decisions;
  profiles: Profiles;
  seal: VaultSeal;
  /** Only these dialects are loaded. */
  names: readonly DialectName[];
}

/** Adds the endpoints of the configured dialects. */
export async function dialectRoutes(app: FastifyInstance, { names, ...options }: DialectRoutesOptions): Promise<void> {
  const owners = new Map<string, DialectName>();
  const healths = new Map<string, Dialect & Required<Pick<Dialect, "health">> & { name: DialectName }>();
  for (const name of new Set(names)) {
    const dialect = await DIALECTS[name]();
    const refusal = (message: string) =>
      new GuardValidationError([{ path: `dialects.${names.indexOf(name)}`, message }]);
    const faults = options.profiles.all.map(({ service }) => dialect.findFault?.(service.scanners));
    // One profile is enough: callers may be given another one.
    if (faults[0] !== undefined && !faults.includes(undefined)) throw refusal(faults[0]);
    for (const path of pathsOf(dialect)) {
      const other = owners.get(path);
      const message = `${name} and ${other} have the same path ${path}: choose one of them`;
      if (other) throw refusal(message);
      owners.set(path, name);
    }
    for (const endpoint of dialect.endpoints) addEndpoint(app, name, dialect, endpoint, options);
    for (const list of dialect.lists ?? []) addList(app, name, dialect, list);
    const { health } = dialect;
    // Programs read a body of JSON. Of a text they read only the status.
    if (health && typeof (healths.get(health.path)?.health.body ?? "") === "string") {
      healths.set(health.path, { ...dialect, health, name });
    }
  }
  for (const { name, health, ...dialect } of healths.values()) addHealth(app, name, dialect, health);
}

function pathsOf({ endpoints, lists = [] }: Dialect): string[] {
  return [...endpoints, ...lists].map(({ path }) => path);
}

function addList(
  app: FastifyInstance,
  name: string,
  { summary: tag, problem: bodyOf }: Dialect,
  { path, summary, example, list }: ListEndpoint,
): void {
  app.get(path, {
    schema: {
      tags: [tag],
      operationId: operationIdOf(name, path),
      summary,
      querystring: { type: "object", properties: { language: { type: "string" } } },
      response: { 200: { description: "OK", content: { "application/json": { schema: {}, example } } } },
    },
    config: { problems: authProblems, ...(bodyOf ? { problemBody: bodyOf } : {}) },
    handler: async ({ profile: { service }, query }) => list(service.scanners, query as { language?: string }),
  });
}

function operationIdOf(name: string, path: string): string {
  return `${name}${path.replaceAll(/[^A-Za-z0-9]+/g, "_")}`;
}

function addHealth(
  app: FastifyInstance,
  name: string,
  { summary, problem: bodyOf }: Pick<Dialect, "summary" | "problem">,
  { path, body }: NonNullable<Dialect["health"]>,
): void {
  const type = typeof body === "string" ? "text/plain" : "application/json";
  app.get(path, {
    schema: {
      tags: [summary],
      operationId: `${name}_health`,
      summary: "Readiness: the models are loaded and scans are accepted",
      security: [],
      response: { 200: { description: "OK", content: { [type]: { schema: {}, example: body } } } },
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
  { decisions, profiles, seal }: Omit<DialectRoutesOptions, "names">,
): void {
  const { $schema: _, ...schema } = z.toJSONSchema(body, { target: "draft-7", io: "input" });
  const json = { schema: {}, example: example.reply };
  app.post(path, {
    schema: {
      tags: [summary],
      operationId: operationIdOf(name, path),
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
      const begin = ({ personalData, ...options }: DialectCallOptions = {}) => {
        const { suppress = [], rewrite = true } = options;
        const { side = "input", recognizers: given, ...wanted } = personalData ?? {};
        const { replacements, recognizers } = profiles.grant(request, { ad_hoc_recognizers: given, ...wanted }, side);
        const offsets = "codePoint" as const;
        const requested = { suppress, offsets, rewrite };
        const onScanned = ({ content, rescan, ...scan }: ScanRecord) =>
          decisions.publish({
            ...{ ...scan, request, profile, recognizers, options: requested, content: () => content },
            // The replaced scanners belong to this service only.
            ...(rescan && !replacements ? { rescan } : {}),
          });
        const guard = new LocalGuard(service, { onScan: onScanned });
        return guard.call({ ...options, replacements, runAll: personalData !== undefined, offsets, ...callOptions });
      };
      const { scanners, restores } = service;
      const call = { call: begin(), begin, headers: request.headers, scanners, restores, vaults };
      const { status = 200, body } = await answer(request.body, call);
      return reply.code(status).send(body);
    },
  });
}
