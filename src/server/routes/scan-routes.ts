import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ScanObserver } from "../../scan/observer.ts";
import type { Side } from "../../scan/scanner.ts";
import { Vault } from "../../scan/vault.ts";
import type { Answer, DocumentsAnswer } from "../../service/json-report.ts";
import type { ScanService } from "../../service/service.ts";
import type { ScanKind, ScanRequest, ServiceReport } from "../../service/service-types.ts";
import { stopOnDisconnect } from "../../support/disconnect.ts";
import { LazyAbortController } from "../../support/lazy-abort-controller.ts";
import type { CacheUse, ResultCache, Scanned } from "../cache/result-cache.ts";
import { callerOf } from "../callers/caller.ts";
import type { Granted, Profiles } from "../callers/profiles.ts";
import type { Decisions } from "../decisions/decisions.ts";
import { scanProblems } from "../http/problem-replies.ts";
import { named } from "../schemas/named.ts";
import type { ScanFields } from "../schemas/scan.ts";
import type { VaultSeal } from "../vault/vault-seal.ts";
import { jsonReply } from "./replies.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Is told of the scanners and models of this request. Absent where nobody follows it. */
    scanObserver?: ScanObserver | undefined;
  }
}

/** What the routes that scan need. */
export interface ScanRoutesOptions {
  decisions: Decisions;
  profiles: Profiles;
  seal: VaultSeal;
  /** Where results are kept, if they are. */
  cache: ResultCache | undefined;
}

/** What a route scans: a prompt, an output, a conversation or documents. */
export interface Subject<Body extends ScanFields> {
  /** The paths of `POST /analyze/*`, which rewrites texts and gives them back, and of `POST /scan/*`, which only judges. */
  paths: { analyze: readonly string[]; scan: readonly string[] };
  /** What the routes scan. */
  scans: ScanKind;
  /** What the thing is called in the API's description: `a prompt`. */
  name: string;
  /** Which scanners look at it. */
  source: Side;
  /** The name of the body's schema. */
  request: string;
  /** The names of the schemas of the answers to `POST /analyze/*` and `POST /scan/*`. */
  results: { analyze: string; scan: string };
  /** Examples for the API's description. */
  examples: { request: unknown; analyzed: unknown; scanned: unknown };
  scan(service: ScanService, body: Body, request: ScanRequest): Promise<ServiceReport>;
  /**
   * Turns the report into the answer.
   *
   * @param rewrite whether the answer has the rewritten text.
   */
  answer(report: ServiceReport, details: boolean, rewrite: boolean, body: Body): Answer | DocumentsAnswer;
  /** The texts, for those who may keep them, such as the log of those who want them there. */
  content(body: Body): Record<string, unknown>;
}

/** What a text of a subject is, and how it is judged. */
export type Item<Body extends ScanFields> = Pick<Subject<Body>, "name" | "source" | "scan" | "content">;

/** Adds the routes of a subject. */
export function addScanRoutes<Body extends ScanFields>(
  app: FastifyInstance,
  options: ScanRoutesOptions,
  subject: Subject<Body>,
): void {
  const { profiles, seal } = options;
  const { paths, scans, name, source, request: schema, results, examples, answer } = subject;
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
          const granted = profiles.grant(request, fields, source);
          const stop = stopOnDisconnect(reply.raw);
          const asked = { fields, kind, granted, until: stop };
          const { report, vault, use } = await scanned(options, subject, request, asked);
          const details = fields.details ?? false;
          return {
            ...answer(report, details, rewrite, fields),
            ...(details && use ? { cache: use } : {}),
            // It also holds the pairs of the request's vault, so a client has to keep only the latest vault.
            ...(rewrite && source === "input" && vault.size > 0 ? { vault: seal.seal(vault, request.credential) } : {}),
          };
        },
      });
    }
  }
}

/** What is scanned for a request. */
interface ScanAsked<Body> {
  fields: Body;
  kind: "analyze" | "scan";
  /** What the caller may have of what it asks for. */
  granted: Granted;
  /** Is aborted when nobody waits for the result any more: a {@link LazyAbortController} where it is for this scan alone. */
  until: AbortSignal | LazyAbortController;
}

/** Scans for a request, or finds the result in the cache, and tells of the decision. */
export async function scanned<Body extends ScanFields>(
  { decisions, seal, cache }: Pick<ScanRoutesOptions, "decisions" | "seal" | "cache">,
  { name, source, scan, content }: Item<Body>,
  request: FastifyRequest,
  { fields, kind, granted: { profile, suppress, replacements }, until }: ScanAsked<Body>,
): Promise<Scanned & { use?: CacheUse }> {
  const { service } = profile;
  const rewrite = kind === "analyze";
  const details = fields.details ?? false;
  const observer = request.scanObserver;
  const offsets = "codePoint" as const;
  const { caller, turn } = callerOf(request);
  const compute = async (until: AbortSignal | LazyAbortController): Promise<Scanned> => {
    const vault = typeof fields.vault === "string" ? seal.open(fields.vault, request.credential) : new Vault();
    const stopped = until instanceof LazyAbortController ? { stop: until } : { signal: until };
    const asked = { suppress, replacements, offsets, rewrite, vault, ...stopped, observer, caller, turn };
    return { report: await scan(service, fields, asked), vault };
  };
  const found = async (): Promise<Scanned & { use?: CacheUse }> => {
    if (!cache) return compute(until);
    if (typeof fields.vault === "string" || service.isVolatile(source)) {
      return { ...(await compute(until)), use: "skipped" };
    }
    if (service.notReady) throw service.notReady;
    const { scanners_suppress: _, details: __, vault: ___, profile: ____, ...texts } = fields;
    // Whatever fields there are besides, the result may depend on them.
    const body = [texts, details, suppress.toSorted()];
    const asked = {
      caller,
      kind: `${kind} ${name}`,
      profile: profile.name,
      body,
      details,
      rewrite,
    };
    return cache.scan(asked, until instanceof LazyAbortController ? until.signal : until, compute);
  };
  const result = await found();
  await decisions.tell({
    request,
    profile,
    side: source,
    report: result.report,
    cache: result.use,
    asked: { suppress, offsets, rewrite },
    content: () => content(fields),
    // Scanners with thresholds of the request are of this service only.
    ...(replacements ? {} : { again: (other, asked) => scan(other, fields, asked) }),
  });
  return result;
}
