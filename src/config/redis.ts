import { z } from "zod";

const PROTOCOLS = ["redis:", "rediss:", "unix:"];

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, pathname } = new URL(text);
  return PROTOCOLS.includes(protocol) && (protocol === "unix:" ? pathname.length > 1 : host !== "");
}

/** The message does not quote the value, because a URL may contain a password. */
const EXPECTED = "expected redis://host:port, rediss://host:port (TLS) or unix:///path/of/socket";

export interface RedisNode {
  host: string;
  port: number;
}

/** Parses `host`, `host:port`, `[IPv6]` and `[IPv6]:port`. A URL is none: it could contain a password, which has a key of its own. */
function parseNode(text: string, defaultPort: number): RedisNode | undefined {
  const [, address, name, port = String(defaultPort)] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const host = address ?? name;
  const number = Number(port);
  return host !== undefined && number >= 1 && number <= 65_535 ? { host, port: number } : undefined;
}

/** A list of addresses, or a text with commas, so that a list can come from one environment variable. */
function nodes(defaultPort: number) {
  const list = z
    .array(z.string())
    .min(1)
    .transform((texts, context) =>
      texts.map((text, index) => {
        const node = parseNode(text, defaultPort);
        if (!node) context.addIssue({ code: "custom", path: [index], message: "expected host:port" });
        return node as RedisNode;
      }),
    );
  return z.preprocess((given) => (typeof given === "string" ? given.split(",") : given), list);
}

const sentinel = z.strictObject({
  name: z.string().min(1).describe("The name of the primary, as in the configuration of the sentinels."),
  nodes: nodes(26_379).describe("The sentinels: host:port of each, as a list or separated by commas."),
  username: z.string().optional().describe("The user at the sentinels."),
  password: z.string().optional().describe("The password of the sentinels."),
  tls: z.boolean().default(false).describe("Connect to the sentinels with TLS."),
  database: z.number().int().min(0).default(0).describe("The database of the primary."),
});

const cluster = z.strictObject({
  nodes: nodes(6379).describe("Some nodes of the cluster: host:port of each, as a list or separated by commas."),
});

const settings = z
  .strictObject({
    url: z
      .string()
      .refine(isRedisUrl, EXPECTED)
      .optional()
      .describe("redis://host:port/database, rediss:// for TLS, or unix:///path/of/socket."),
    sentinel: sentinel
      .optional()
      .describe("Sentinels that name the server in place of a URL, and replace it after a failure."),
    cluster: cluster.optional().describe("A Redis Cluster, in place of a URL."),
    username: z.string().optional().describe("The user, if it is not in the URL."),
    password: z.string().optional().describe("The password, if it is not in the URL."),
    tls: z
      .boolean()
      .optional()
      .describe("Connect with TLS to the server that the sentinels name, or to the nodes of the cluster."),
    timeout: z
      .number()
      .positive()
      .max(60)
      .default(0.1)
      .describe("Seconds that a request waits for Redis before it continues without."),
    prefix: z.string().default("guard:").describe("The prefix of all keys."),
  })
  .superRefine((given, context) => {
    const addIssue = (key: string, message: string) => context.addIssue({ code: "custom", path: [key], message });
    const named = (["url", "sentinel", "cluster"] as const).filter((key) => given[key] !== undefined);
    if (named.length === 0) addIssue("url", "is required, or sentinel, or cluster");
    for (const key of named.slice(1)) addIssue(key, `give ${named[0]} or ${key}, not both`);
    if (given.url !== undefined && given.tls !== undefined) addIssue("tls", "write rediss:// in url instead");
  });

export type RedisSettings = z.output<typeof settings>;

/** A Redis server: its URL, or an object with further settings. An empty text means none, so that `${REDIS_URL:}` is allowed. */
export const redis = z
  .union(
    [
      z
        .string()
        .refine((text) => text === "" || isRedisUrl(text), EXPECTED)
        .transform((url) => (url === "" ? undefined : settings.parse({ url }))),
      settings,
    ],
    EXPECTED,
  )
  .nullish()
  .transform((given) => given ?? undefined)
  .describe(
    "A Redis server, servers behind sentinels, or a cluster that several instances share: a URL, or an object with further settings.",
  );
