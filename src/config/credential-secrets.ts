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
    secretsOf(entry).flatMap((secret, at) => {
      const header = entry.type === "api_key" ? entry.header.toLowerCase() : "";
      const credential = JSON.stringify([entry.type, header, ...secret]);
      if (taken.has(credential))
        return [{ path: [index, ...pathOf(entry, at)], message: "another credential has this secret" }];
      taken.add(credential);
      return [];
    }),
  );
}

function pathOf({ type }: Entry, at: number): (string | number)[] {
  if (type === "api_key") return ["keys", at];
  return [type === "http_bearer" ? "token" : "password"];
}

/** Returns the texts that identify each secret of an entry. A secret and its hash give the same texts. */
export function secretsOf(entry: Entry): string[][] {
  switch (entry.type) {
    case "http_bearer":
      return [[digestOf(entry.token).toString("hex")]];
    case "http_basic":
      return [[entry.username, digestOf(entry.password).toString("hex")]];
    case "api_key":
      return entry.keys.map((key) => [digestOf(key).toString("hex")]);
  }
}

/** Returns the SHA-256 of a configured secret. A configuration may have the hash in its place: `sha256:<64 digits>`. */
export function digestOf(secret: string): Buffer {
  return secret.startsWith("sha256:") ? Buffer.from(secret.slice("sha256:".length), "hex") : sha256(secret);
}

export function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
