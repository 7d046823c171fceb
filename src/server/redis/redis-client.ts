import type { Cluster, ClusterOptions, DNSLookupFunction, Redis, RedisOptions } from "ioredis";
import type { RedisSettings } from "../../config/index.ts";
import { requirePackages } from "../../support/optional-packages.ts";

/** A connection to one server, to the server that sentinels name, or to all nodes of a cluster. */
export type RedisClient = Redis | Cluster;

const MAX_RECONNECT_DELAY_MS = 1000;
/** A connection that is silent for this time is replaced. */
const MIN_SOCKET_TIMEOUT_MS = 5000;
/** Sentinels and nodes that do not answer in this time are passed over, because others may answer. */
const MAX_NODE_WAIT_MS = 1000;
/** A node that has taken over slots is also noticed without a request for one of them. */
const REFRESH_SLOTS_MS = 5000;

const retryStrategy = (attempt: number) => Math.min(attempt * 100, MAX_RECONNECT_DELAY_MS);

/** Loads the client library and creates a client, which is not connected yet. */
export async function createRedisClient(settings: RedisSettings): Promise<RedisClient> {
  requirePackages("Redis", ["ioredis"]);
  const { Cluster, Redis } = await import("ioredis");
  const { url, cluster, sentinel } = settings;
  if (cluster) return new Cluster(cluster.nodes, clusterOptions(settings));
  const options = { ...commonOptions(settings), keyPrefix: settings.prefix, lazyConnect: true, retryStrategy };
  if (sentinel) return new Redis({ ...options, ...sentinelOptions(settings, sentinel) });
  const address = url as string;
  // The client expects the plain path of a socket.
  return new Redis(address.startsWith("unix:") ? decodeURIComponent(new URL(address).pathname) : address, {
    ...options,
    enableOfflineQueue: false,
  });
}

function commonOptions({ username, password, timeout, tls }: RedisSettings) {
  return {
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    ...(tls ? { tls: {} } : {}),
    connectionName: "guard",
    // Gives up a silent connection, with its pending commands.
    socketTimeout: Math.max(MIN_SOCKET_TIMEOUT_MS, timeout * 1000),
    // A command must not be sent later: its request has continued without it.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // After a failover the old primary refuses writes, and its name may point to the new one.
    reconnectOnError: ({ message }: Error) => message.startsWith("READONLY"),
  } satisfies RedisOptions;
}

function sentinelOptions(
  { tls = false }: RedisSettings,
  { name, nodes, username, password, tls: hasSentinelTls, database }: NonNullable<RedisSettings["sentinel"]>,
) {
  return {
    ...{ name, sentinels: nodes, db: database, enableOfflineQueue: false },
    ...(username ? { sentinelUsername: username } : {}),
    ...(password ? { sentinelPassword: password } : {}),
    ...(hasSentinelTls ? { sentinelTLS: {} } : {}),
    enableTLSForSentinelMode: tls,
    connectTimeout: MAX_NODE_WAIT_MS,
    sentinelCommandTimeout: MAX_NODE_WAIT_MS,
    sentinelRetryStrategy: retryStrategy,
  } satisfies RedisOptions;
}

function clusterOptions(settings: RedisSettings) {
  return {
    keyPrefix: settings.prefix,
    lazyConnect: true,
    // The first commands to a node wait until it is connected; without the queue, all but one of them would fail.
    enableOfflineQueue: true,
    clusterRetryStrategy: retryStrategy,
    // A command must not be sent later: its request has continued without it.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: MAX_NODE_WAIT_MS,
    slotsRefreshInterval: REFRESH_SLOTS_MS,
    // Certificates name hosts, so the names must not be resolved before the client connects.
    ...(settings.tls ? { dnsLookup: keepName } : {}),
    redisOptions: { ...commonOptions(settings), connectTimeout: MAX_NODE_WAIT_MS },
  } satisfies ClusterOptions;
}

const keepName: DNSLookupFunction = (address, callback) => callback(null, address);
