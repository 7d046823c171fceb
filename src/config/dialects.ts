/** The APIs of other products that the server can emulate: the values of `dialects`. Each has a file in `src/server/dialects`. */
export const DIALECTS = [
  "agentgateway",
  "fms",
  "kgateway",
  "lakera",
  "litellm",
  "openai",
  "portkey",
  "presidio",
] as const;
export type DialectName = (typeof DIALECTS)[number];
