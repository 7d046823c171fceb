import { accessSync, constants } from "node:fs";
import { dirname, resolve } from "node:path";
import { isEverywhere } from "../scan/mode.ts";
import type { Environment } from "../support/environment.ts";
import { expiredExceptions } from "./exceptions.ts";
import type { Config } from "./schema.ts";

/** A valid setting that may do harm. */
export interface Risk {
  /** The path of a setting, or an environment variable. */
  about: string;
  text: string;
  advice: string;
}

export interface RiskContext {
  env: Environment;
  /** Whether a scanner replaces values by placeholders, so that responses contain vaults. */
  returnsVaults: boolean;
  /** Whether a scanner asks for the reviews of texts. */
  requestsReviews: boolean;
  /** Whether other machines reach the server. */
  isPublic: boolean;
}

/** Returns the risks of a valid configuration, in the order of the sections of the file. */
export function risksOf(config: Config, context: RiskContext): Risk[] {
  const risks = [
    ...appRisks(config),
    ...accessRisks(config, context),
    ...keyRisks(config, context),
    ...auditRisks(config),
    ...exceptionRisks(config),
    ...reviewRisks(config, context),
  ];
  return risks.flatMap(([applies, about, text, advice]) => (applies ? [{ about, text, advice }] : []));
}

type PossibleRisk = [applies: boolean, about: string, text: string, advice: string];

function appRisks({ app }: Config): PossibleRisk[] {
  return [
    [
      isEverywhere(app.mode, "monitor"),
      "app.mode",
      "all scanners only monitor: no text is blocked or changed",
      "enforce, or remove it, once the false alarms are known",
    ],
    [isEverywhere(app.mode, "off"), "app.mode", "no scanner runs: every text passes", "monitor or enforce"],
    [
      app.logContent,
      "app.log_content",
      "the log contains prompts and outputs with their secrets",
      "remove it, and use the audit log",
    ],
    [
      app.lazyLoad,
      "app.lazy_load",
      "the first request that needs a model waits until it is loaded and tested; a missing or damaged model is noticed only then",
      "remove it",
    ],
    [
      app.selfTestInterval === 0,
      "app.self_test_interval",
      "a model that is damaged while the server runs is not noticed",
      "remove it, which means 300 seconds",
    ],
  ];
}

function accessRisks({ auth, metrics, rateLimit }: Config, { isPublic }: RiskContext): PossibleRisk[] {
  return [
    [
      isPublic && !rateLimit.enabled,
      "rate_limit",
      "a single caller can overload the server",
      "rate_limit: { enabled: true, limit: ... }",
    ],
    [
      isPublic && auth !== undefined && metrics.public && metrics.exporter === "prometheus",
      "metrics.public",
      "anyone who reaches the server can read the names of scanners and how often texts fail",
      "allow only Prometheus to reach the port, or remove it",
    ],
  ];
}

function keyRisks({ audit, cache }: Config, { env, returnsVaults }: RiskContext): PossibleRisk[] {
  // A key that consists of white space counts as missing; see `readSecretKeys`.
  const isSet = (name: string) => (env[name] ?? "").trim() !== "";
  return [
    [
      returnsVaults && !isSet("GUARD_VAULT_KEY"),
      "GUARD_VAULT_KEY",
      "not set; vaults of this server cannot be opened by other instances or after a restart",
      "set it to the same value for all instances: openssl rand -base64 32",
    ],
    [
      cache?.enabled === true && cache.redis != null && !isSet("GUARD_CACHE_KEY"),
      "GUARD_CACHE_KEY",
      "not set; results that this server caches cannot be used by other instances or after a restart",
      "set it to the same value for all instances: openssl rand -base64 32",
    ],
    [
      audit !== undefined && !isSet("GUARD_AUDIT_KEY"),
      "GUARD_AUDIT_KEY",
      "not set; the chain of the audit log does not reveal an attacker who rewrites all of it",
      "set it: openssl rand -base64 32",
    ],
  ];
}

function auditRisks({ audit }: Config): PossibleRisk[] {
  return [
    [
      audit?.onFailure === "allow",
      "audit.on_failure",
      "requests succeed even if their decisions are not recorded",
      "block, or watch guard_audit_lost_total",
    ],
    [
      audit?.file !== undefined && !isWritable(dirname(resolve(audit.file))),
      "audit.file",
      "its folder is missing or not writable",
      "create the folder, and make it writable for the user that runs guard",
    ],
  ];
}

function exceptionRisks(config: Config): PossibleRisk[] {
  const { auth = [], exceptions } = config;
  const expired = expiredExceptions(config).map(
    ({ exception: { id, reason, expires }, path }): PossibleRisk => [
      true,
      path,
      `the exception ${id} (${reason}) expired on ${expires} and has no effect`,
      "remove it, or look at it again and change expires",
    ],
  );
  return [
    [
      auth.some(({ mayAddExceptions }) => mayAddExceptions) && !exceptions?.file && !exceptions?.redis,
      "exceptions",
      "exceptions that are added at run time are kept in memory only, and are lost when the server ends",
      "exceptions: { file: ... }, or redis",
    ],
    ...expired,
  ];
}

function reviewRisks({ app, auth = [], reviews }: Config, { requestsReviews }: RiskContext): PossibleRisk[] {
  return [
    [
      requestsReviews && !reviews.redis,
      "reviews",
      "texts that wait for a review are kept in memory only, and are lost when the server ends",
      "reviews: { redis: ... }",
    ],
    [
      requestsReviews && app.review === "hold" && auth.length > 0 && !auth.some(({ mayReview }) => mayReview),
      "app.review",
      "no credential may decide about the texts that are held for a review",
      "may_review: true in an entry of auth, or review: pass",
    ],
  ];
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
