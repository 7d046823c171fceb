import type { Redis } from "ioredis";
import type { Rate } from "../../config/index.ts";
import { type Count, type Counter, countOf } from "../../http-server/callers/counter.ts";

/**
 * Redis runs a script as one step, so that no other server counts in between. `KEYS[1]` is the counter. `ARGV` is the amount, the most,
 * whether what is too much counts (`1`), and the milliseconds of a window.
 */
const TAKE = `
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
type Counting = Redis & Record<"guardTake", (...args: (string | number)[]) => Promise<[number, number, number]>>;

/** Counts in Redis, so that several servers count together. */
export class RedisCounter implements Counter {
  readonly rate: Rate;
  readonly #client: Counting;
  readonly #prefix: string;

  /** @param prefix what the names of the counters begin with. */
  constructor(rate: Rate, client: Redis, prefix: string) {
    this.rate = rate;
    this.#client = client as Counting;
    this.#prefix = `${prefix}:${rate.max}/${rate.milliseconds}:`;
    if (!this.#client.guardTake) client.defineCommand("guardTake", { numberOfKeys: 1, lua: TAKE });
  }

  async take(key: string, amount: number, countsRefused: boolean): Promise<Count> {
    const { max, milliseconds } = this.rate;
    const name = this.#prefix + key;
    const [used, ttl, fits] = await this.#client.guardTake(name, amount, max, countsRefused ? 1 : 0, milliseconds);
    return countOf(this.rate, used, ttl, fits === 1);
  }
}
