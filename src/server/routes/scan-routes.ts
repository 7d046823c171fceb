import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ScanObserver } from "../../scan/observer.ts";
import type { Side } from "../../scan/scanner.ts";
import type { Source } from "../../scan/source.ts";
import type { JsonDocumentsReport, JsonReport } from "../../service/json-report.ts";
import type { ScanService } from "../../service/service.ts";
import type { ScanKind, ScanRequest, ServiceReport } from "../../service/service-types.ts";
import { stopOnDisconnect } from "../../support/disconnect.ts";
import { LazyAbortController } from "../../support/lazy-abort-controller.ts";
import type { CacheUse, ResultCache, ScanResult } from "../cache/result-cache.ts";
import { callerOf } from "../callers/caller.ts";
import type { GrantedOptions, Profiles } from "../callers/profiles.ts";
import type { Decisions } from "../decisions/decisions.ts";
import type { KnownFields, OtherFields, UnknownFields } from "../http/other-fields.ts";
import { scanProblems } from "../http/problem-replies.ts";
import { named } from "../schemas/named.ts";
import { offsetUnitOf, type ScanFields } from "../schemas/scan.ts";
import type { VaultSeal } from "../vault/vault-seal.ts";
import { jsonReply } from "./replies.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Observes the scanners and models of this request. */
    scanObserver?: ScanObserver | undefined;
  }
}

export interface ScanRoutesOptions {
  decisions: Decisions;
  profiles: Profiles;
  seal: VaultSeal;
  cache: ResultCache | undefined;
  unknownFields: UnknownFields;
}

/** What is scanned: a prompt, an output, a conversation or documents. */
export interface ScanSubject<Body extends ScanFields> {
  /** The name in the API description: `a prompt`. */
  name: string;
  /** The scanners of this side run. */
  source: Side;
  scan(service: ScanService, body: Body, request: ScanRequest): Promise<ServiceReport>;
  /** Returns the source of a single text or of documents. */
  textSource?(body: Body): Source;
  /** Returns the texts, for the log and the audit log. */
  content(body: Body): Record<string, unknown>;
}

/** The routes of a subject. */
export interface ScanRoutes<Body extends ScanFields> extends ScanSubject<Body> {
  /** The paths of `POST /analyze/*`, which returns rewritten texts, and of `POST /scan/*`, which does not. */
  paths: { analyze: readonly string[]; scan: readonly string[] };
  scans: ScanKind;
  /** The name of the body's schema. */
  request: string;
  /** The fields of the body. */
  known: KnownFields;
  /** The names of the response schemas. */
  results: { analyze: string; scan: string };
  /** Examples for the API description. */
  examples: { request: unknown; analyzed: unknown; scanned: unknown };
  /** @param rewrite whether the response has the rewritten text. */
  answer(report: ServiceReport, details: boolean, rewrite: boolean, body: Body): JsonReport | JsonDocumentsReport;
}

export function addScanRoutes<Body extends ScanFields>(
  app: FastifyInstance,
  options: ScanRoutesOptions,
  routes: ScanRoutes<Body>,
): void {
  const { profiles, seal, unknownFields } = options;
  const { paths, scans, name, source, request: schema, known, results, examples, answer } = routes;
  for (const kind of ["analyze", "scan"] as const) {
    const rewrite = kind === "analyze";
    for (const url of paths[kind]) {
      app.post(url, {
        schema: {
          tags: [rewrite ? "Analyze" : "Scan"],
          operationId: url.slice(1).replace("/", "_"),
          summary: rewrite ? `Check ${name} and sanitize it` : `Check ${name}`,
          body: named(schema),
          response: jsonReply(results[kind], rewrite ? examples.analyzed : examples.scanned),
        },
        config: { scans, problems: scanProblems, requestExample: examples.request },
        handler: async (request, reply) => {
          const fields = request.body as Body;
          const others = unknownFields.take(fields, known);
          const granted = profiles.grant(request, fields, source);
          const until = stopOnDisconnect(reply.raw);
          const result = await scanRequest(options, routes, request, { fields, others, kind, granted, until });
          const { report, vault, use } = result;
          const details = fields.details ?? false;
          return {
            ...answer(report, details, rewrite, fields),
            ...(details && use ? { cache: use } : {}),
            // It includes the pairs of the request's vault, so a client keeps only the latest vault.
            ...(rewrite && source === "input" && vault.size > 0 ? { vault: seal.seal(vault, request.credential) } : {}),
          };
        },
      });
    }
  }
}

/** A scan of a request. */
interface RequestScan<Body> {
  fields: Body;
  /** The fields of the body beside those of its route. */
  others: OtherFields;
  kind: "analyze" | "scan";
  granted: GrantedOptions;
  /** Aborted when the result is not needed any more. A {@link LazyAbortController} belongs to this scan alone. */
  until: AbortSignal | LazyAbortController;
}

/** Scans for a request, or finds the result in the cache, and publishes the decision. */
export async function scanRequest<Body extends ScanFields>(
  options: Pick<ScanRoutesOptions, "decisions" | "seal" | "cache">,
  subject: ScanSubject<Body>,
  request: FastifyRequest,
  requestScan: RequestScan<Body>,
): Promise<ScanResult & { use?: CacheUse }> {
  const { source, scan, content } = subject;
  const { fields, others, kind, granted } = requestScan;
  const { profile, suppress, replacements, recognizers } = granted;
  const result = await cachedScan(options, subject, request, requestScan);
  await options.decisions.publish({
    request,
    profile,
    side: source,
    report: result.report,
    textSource: subject.textSource?.(fields),
    cache: result.use,
    recognizers,
    options: { suppress, offsets: offsetUnitOf(fields), rewrite: kind === "analyze" },
    content: () => content(fields),
    // Scanners with thresholds or recognizers of the request belong to this service only.
    ...(replacements
      ? {}
      : { rescan: (other, scanOptions) => scan(other, fields, Object.assign({}, scanOptions, others)) }),
  });
  return result;
}

async function cachedScan<Body extends ScanFields>(
  { seal, cache }: Pick<ScanRoutesOptions, "seal" | "cache">,
  { name, source, scan }: ScanSubject<Body>,
  request: FastifyRequest,
  { fields, others, kind, granted: { profile, suppress, replacements }, until }: RequestScan<Body>,
): Promise<ScanResult & { use?: CacheUse }> {
  const { service } = profile;
  const rewrite = kind === "analyze";
  const details = fields.details ?? false;
  const observer = request.scanObserver;
  const { caller, turn, credential } = callerOf(request);
  const compute = async (until: AbortSignal | LazyAbortController): Promise<ScanResult> => {
    const vault = typeof fields.vault === "string" ? seal.open(fields.vault, request.credential) : seal.create();
    const cancellation = until instanceof LazyAbortController ? { stop: until } : { signal: until };
    const scanOptions = {
      suppress,
      replacements,
      offsets: offsetUnitOf(fields),
      rewrite,
      vault,
      ...cancellation,
      observer,
      caller,
      turn,
      credential,
      ...others,
    };
    return { report: await scan(service, fields, scanOptions), vault };
  };
  if (!cache) return compute(until);
  if (typeof fields.vault === "string" || service.isVolatile(source)) {
    return { ...(await compute(until)), use: "skipped" };
  }
  if (service.notReady) throw service.notReady;
  const { scanners_suppress: _, details: __, vault: ___, profile: ____, offsets, ...texts } = fields;
  // The result may depend on all other fields.
  const body = [texts, details, offsets ?? null, suppress.toSorted()];
  const exceptions = () => service.exceptions?.state() ?? { digest: "", changes: 0 };
  const cacheRequest = { caller, kind: `${kind} ${name}`, profile: profile.name, body, details, rewrite, exceptions };
  return cache.scan(cacheRequest, until instanceof LazyAbortController ? until.signal : until, compute);
}
