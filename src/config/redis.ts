import { z } from "zod";

const PROTOCOLS = ["redis:", "rediss:", "unix:"];

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, pathname } = new URL(text);
  return PROTOCOLS.includes(protocol) && (protocol === "unix:" ? pathname.length > 1 : host !== "");
}

/** The message does not quote the value, because a URL may contain a password. */
const EXPECTED = "expected redis://host:port, rediss://host:port (TLS) or unix:///path/of/socket";

const settings = z.strictObject({
  url: z
    .string()
    .refine(isRedisUrl, EXPECTED)
    .describe("redis://host:port/database, rediss:// for TLS, or unix:///path/of/socket."),
  username: z.string().optional().describe("The user, if it is not in the URL."),
  password: z.string().optional().describe("The password, if it is not in the URL."),
  timeout: z
    .number()
    .positive()
    .max(60)
    .default(0.1)
    .describe("Seconds that a request waits for Redis before it continues without."),
  prefix: z.string().default("guard:").describe("The prefix of all keys."),
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
  .describe("A Redis server that several instances share: its URL, or an object with further settings.");
