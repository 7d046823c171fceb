import type { DialectName } from "../../config/dialects.ts";
import type { Dialect } from "./dialect.ts";

/** Loads a dialect by its name in `scanners.yml`. */
export const DIALECTS: Record<DialectName, () => Promise<Dialect>> = {
  agentgateway: async () => (await import("./agentgateway.ts")).agentgateway,
  fms: async () => (await import("./fms.ts")).fms,
  kgateway: async () => (await import("./agentgateway.ts")).kgateway,
  lakera: async () => (await import("./lakera.ts")).lakera,
  litellm: async () => (await import("./litellm.ts")).litellm,
  openai: async () => (await import("./openai.ts")).openai,
  portkey: async () => (await import("./portkey.ts")).portkey,
  presidio: async () => (await import("./presidio.ts")).presidio,
};
