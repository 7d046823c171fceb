/**
 * What the server uses Redis for, as its metrics and log name it. It has a file of its own because public types refer to it, and most
 * users have no types of ioredis.
 */
export type RedisUse = "cache" | "rate_limit" | "exceptions" | "reviews" | "traffic";
