import { accessSync, constants } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Environment } from "../support/environment.ts";
import type { Config } from "./schema.ts";

/** Something that works, and may do harm. */
export interface Risk {
  /** What it is about: the path of a setting, or an environment variable. */
  about: string;
  /** What may happen. */
  text: string;
  /** What to do. */
  advice: string;
}

/** What the risks of a configuration depend on besides it. */
export interface RiskSurroundings {
  env: Environment;
  /** Whether a scanner puts placeholders into texts, whose originals are in vaults that clients hand back. */
  returnsVaults: boolean;
  /** Whether others than this machine reach the address that is listened on. */
  isPublic: boolean;
}

/** What a configuration that guard takes may do harm with, in the order of the file's sections. */
export function risksOf(config: Config, { env, returnsVaults, isPublic }: RiskSurroundings): Risk[] {
  const { app, auth, audit, cache, rateLimit } = config;
  // A key of white space is none; see `readSecretKeys`.
  const isSet = (name: string) => (env[name] ?? "").trim() !== "";
  const risks: [applies: boolean, about: string, text: string, advice: string][] = [
    [
      app.logContent,
      "app.log_content",
      "prompts and outputs are written to the log, with the secrets in them",
      "leave it out, and use the audit log",
    ],
    [
      app.lazyLoad,
      "app.lazy_load",
      "models are loaded and tested with the first request that needs them, which waits; a model that is missing or damaged shows then",
      "leave it out",
    ],
    [
      app.selfTestInterval === 0,
      "app.self_test_interval",
      "a model that is damaged while the server runs is not noticed",
      "leave it out, which means 300 seconds",
    ],
    [
      app.trustProxy === true && rateLimit.enabled && rateLimit.key === "ip",
      "app.trust_proxy",
      "whoever reaches the server may send any address in X-Forwarded-For, and is then not limited",
      "name the addresses of your proxies",
    ],
    [
      isPublic && !rateLimit.enabled,
      "rate_limit",
      "a caller may send as much as the server can do",
      "rate_limit: { enabled: true, limit: ... }",
    ],
    [
      isPublic && auth !== undefined && config.metrics.public && config.metrics.exporter === "prometheus",
      "metrics.public",
      "whoever reaches the server reads the names of scanners and how often they fail texts",
      "see that nobody but Prometheus reaches the port, or leave it out",
    ],
    [
      returnsVaults && !isSet("GUARD_VAULT_KEY"),
      "GUARD_VAULT_KEY",
      "not set; no other instance can open the vaults of this one, nor can this one after a restart",
      "set it to the same value for all: openssl rand -base64 32",
    ],
    [
      cache?.enabled === true && cache.redis != null && !isSet("GUARD_CACHE_KEY"),
      "GUARD_CACHE_KEY",
      "not set; no other instance can use the cached results of this one, nor can this one after a restart",
      "set it to the same value for all: openssl rand -base64 32",
    ],
    [
      audit !== undefined && !isSet("GUARD_AUDIT_KEY"),
      "GUARD_AUDIT_KEY",
      "not set; the chain of the audit log does not show that somebody wrote all of it anew",
      "set it: openssl rand -base64 32",
    ],
    [
      audit?.onFailure === "allow",
      "audit.on_failure",
      "requests are answered whose decisions are not recorded",
      "block, or watch guard_audit_lost_total",
    ],
    [
      audit?.file !== undefined && !isWritable(dirname(resolve(audit.file))),
      "audit.file",
      "its folder is missing or cannot be written",
      "make the folder, and give it to the user that runs guard",
    ],
  ];
  return risks.flatMap(([applies, about, text, advice]) => (applies ? [{ about, text, advice }] : []));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
