// The configuration of `scanners.yml`: loading, validation, and the scanners of its profiles.

export type { AuditSettings } from "./audit.ts";
export { buildScanner, buildScanners } from "./build-scanners.ts";
export { checkConfig } from "./check-config.ts";
export { loadConfig, parseConfig, readConfig } from "./load-config.ts";
export { MAIN_PROFILE } from "./main-profile.ts";
export { type ConfiguredPlugin, pluginsOf } from "./plugins.ts";
export { type ProfileConfig, profilesOf } from "./profiles.ts";
export { parseRates, type Rate } from "./rate-limit.ts";
export type { RedisSettings } from "./redis.ts";
export type { AuthEntry, Config, ConfigInput, ScannerEntry } from "./schema.ts";
export { type ShadowSettings, shadowSettings } from "./shadow.ts";
