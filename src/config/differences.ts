/** A difference from the API of llm-guard 0.3.16. */
interface SettingDifference {
  /** The path of the setting. Files without it are not affected. */
  path: string;
  text: string;
}

const DIFFERENCES: readonly SettingDifference[] = [
  {
    path: "app",
    text: "The server listens on 127.0.0.1 by default, llm-guard on all addresses. app.host and --host change it.",
  },
  {
    path: "app.scan_prompt_timeout",
    text: "A timeout has status 504, because the client did nothing wrong; in llm-guard it has 408.",
  },
  {
    path: "auth",
    text: "An empty token or password is an error at the start, because anyone could guess it; llm-guard accepts it.",
  },
  {
    path: "cache",
    text: "Results are cached only if cache.enabled is true. max_size is a number of results.",
  },
  {
    path: "metrics",
    text:
      "Names start with guard_, such as guard_scanner_verdicts_total for scanners.valid. With auth, GET /metrics requires a credential " +
      "unless metrics.public is true.",
  },
];

/** Returns the differences from llm-guard that affect a file. */
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
