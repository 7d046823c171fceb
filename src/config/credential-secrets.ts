import { createHash } from "node:crypto";

/** The part of an entry of `auth` that says what its clients send. */
type Entry =
  | { type: "http_bearer"; token: string }
  | { type: "http_basic"; username: string; password: string }
  | { type: "api_key"; header: string; keys: readonly string[] };

/** Finds secrets that an earlier entry has too: only one of the two credentials would ever be used. Paths start with the index of the entry. */
export function secretIssues(entries: readonly Entry[]): { path: (string | number)[]; message: string }[] {
  const taken = new Set<string>();
  return entries.flatMap((entry, index) =>
    secretsOf(entry).flatMap(({ path, credential }) => {
      if (taken.has(credential)) return [{ path: [index, ...path], message: "another credential has this secret" }];
      taken.add(credential);
      return [];
    }),
  );
}

/** What a client sends for each credential of an entry, and the path of its secret. */
function secretsOf(entry: Entry): { path: (string | number)[]; credential: string }[] {
  switch (entry.type) {
    case "http_bearer":
      return [{ path: ["token"], credential: `bearer ${digest(entry.token)}` }];
    case "http_basic":
      return [{ path: ["password"], credential: `basic ${entry.username}:${digest(entry.password)}` }];
    case "api_key":
      return entry.keys.map((key, at) => ({
        path: ["keys", at],
        credential: `header ${entry.header.toLowerCase()} ${digest(key)}`,
      }));
  }
}

/** The SHA-256 of a secret, which may be given as its hash. */
function digest(secret: string): string {
  const [, hash] = /^sha256:(.*)$/.exec(secret) ?? [];
  return hash?.toLowerCase() ?? createHash("sha256").update(secret).digest("hex");
}
