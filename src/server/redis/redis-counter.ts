import type { Rate } from "../../config/index.ts";
import { type LimitStatus, limitStatus, type RateCounter } from "../../http-server/callers/counter.ts";
import type { RedisClient } from "./redis-client.ts";
import { UnexpectedReplyError } from "./redis-link.ts";

/**
 * Redis runs a script atomically. `KEYS[1]` is the counter. `ARGV` is the amount, the maximum, whether refused amounts count (`1`), and
 * the milliseconds of a window.
 */
const TAKE_SCRIPT = `
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local fits = used + tonumber(ARGV[1]) <= tonumber(ARGV[2])
if fits or ARGV[3] == '1' then used = redis.call('INCRBY', KEYS[1], ARGV[1]) end
local ttl = redis.call('PTTL', KEYS[1])
if ttl < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  ttl = tonumber(ARGV[4])
end
return {used, ttl, fits and 1 or 0}
`;

/** A client with the script as a command. */
type CountingClient = RedisClient & Record<"guardTake", (...args: (string | number)[]) => Promise<unknown>>;

/** Whether a reply is that of the script: the use, the milliseconds until the window ends, and whether the amount fits. */
function isTaken(reply: unknown): reply is [number, number, 0 | 1] {
  if (!Array.isArray(reply) || reply.length !== 3) return false;
  return reply.every((number) => Number.isSafeInteger(number) && number >= 0) && reply[2] <= 1;
}

/** Returns the part of a key that names the caller. Its braces put all counters of a caller on one node of a cluster. */
export function callerTag(caller: string): string {
  return `{${caller}}`;
}

/** Counts in Redis, which several servers share. */
export class RedisCounter implements RateCounter {
  readonly rate: Rate;
  readonly #client: CountingClient;
  readonly #prefix: string;

  /** @param prefix of the keys. */
  constructor(rate: Rate, client: RedisClient, prefix: string) {
    this.rate = rate;
    this.#client = client as CountingClient;
    this.#prefix = `${prefix}:${rate.max}/${rate.milliseconds}:`;
    if (!this.#client.guardTake) client.defineCommand("guardTake", { numberOfKeys: 1, lua: TAKE_SCRIPT });
  }

  async take(key: string, amount: number, countsRefused: boolean): Promise<LimitStatus> {
    const { max, milliseconds } = this.rate;
    const name = this.#prefix + callerTag(key);
    const reply: unknown = await this.#client.guardTake(name, amount, max, countsRefused ? 1 : 0, milliseconds);
    if (!isTaken(reply)) throw new UnexpectedReplyError("guardTake");
    const [used, resetMs, fits] = reply;
    return limitStatus(this.rate, used, Math.min(resetMs, milliseconds), fits === 1);
  }
}
