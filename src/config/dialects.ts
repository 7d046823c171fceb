/**
 * The names of the APIs of other products that the server can speak, as `dialects` in `scanners.yml` has them. `src/server/dialects`
 * has one file for each.
 */
export const DIALECTS = ["agentgateway", "fms", "kgateway", "lakera", "litellm", "openai", "portkey"] as const;
export type DialectName = (typeof DIALECTS)[number];
