/** What a setting does otherwise than in llm-guard's API 0.3.16. */
interface SettingDifference {
  /** The path of the setting in the file; the difference concerns files that have it. */
  path: string;
  text: string;
}

const DIFFERENCES: readonly SettingDifference[] = [
  {
    path: "app",
    text: "The server listens on 127.0.0.1 unless app.host or --host names another address; llm-guard's listens on all addresses.",
  },
  {
    path: "app.scan_prompt_timeout",
    text: "A scan that takes longer is answered with status 504, because the client did nothing wrong; llm-guard's API says 408.",
  },
  {
    path: "auth",
    text: "An empty token or password stops the start, because everybody could guess it; llm-guard's API starts with one.",
  },
  {
    path: "cache",
    text: "Results are cached only where cache.enabled is true: a cache has to be wanted. max_size is a number of results.",
  },
  {
    path: "metrics",
    text:
      "Names begin with guard_, such as guard_scanner_verdicts_total for scanners.valid. With auth, GET /metrics needs a credential " +
      "unless metrics.public is true.",
  },
];

/** Lists what the settings of a file do otherwise than in llm-guard's API, for the settings that it has. */
export function settingDifferences(file: unknown): SettingDifference[] {
  const has = (path: string) => {
    let value: unknown = file;
    for (const key of path.split(".")) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return false;
      value = (value as Record<string, unknown>)[key];
    }
    return value !== null;
  };
  return DIFFERENCES.filter(({ path }) => has(path));
}
