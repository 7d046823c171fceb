import { z } from "zod";

/** How the address of a Redis server may begin, as the protocol of a URL. */
const PROTOCOLS = ["redis:", "rediss:", "unix:"];

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, pathname } = new URL(text);
  return PROTOCOLS.includes(protocol) && (protocol === "unix:" ? pathname.length > 1 : host !== "");
}

/** The message quotes nothing of the value, because a URL may hold a password. */
const EXPECTED = "expected redis://host:port, rediss://host:port (TLS) or unix:///path/of/socket";

const settings = z.strictObject({
  url: z
    .string()
    .refine(isRedisUrl, EXPECTED)
    .describe("redis://host:port/database, rediss:// for TLS, or unix:///path of a socket."),
  username: z.string().optional().describe("The user, where it is not in the URL."),
  password: z.string().optional().describe("The password, where it is not in the URL."),
  timeout: z
    .number()
    .positive()
    .max(60)
    .default(0.1)
    .describe("Seconds that a request waits for Redis before it goes on without."),
  prefix: z.string().default("guard:").describe("What the names of all keys begin with."),
});

/** How a Redis server is reached. */
export type RedisSettings = z.output<typeof settings>;

/**
 * A Redis server: its URL, or an object with further settings. A text with nothing in it means none, so that `${REDIS_URL:}` can
 * stand in a file.
 */
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
  .describe("A Redis server that several instances share: its URL, or an object with more settings.");
