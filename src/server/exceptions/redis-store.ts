import type { KeyObject } from "node:crypto";
import { GuardError } from "../../support/errors.ts";
import type { RedisLink } from "../redis/redis-link.ts";
import { RecordSeal } from "../vault/record-seal.ts";
import type { ExceptionStore, StoredException } from "./exception-store.ts";
import { parseStored } from "./file-store.ts";

/** The hash in Redis, without the prefix of all keys. */
const KEY = "exceptions";

/** Keeps exceptions in a hash of Redis, encrypted and authenticated. */
export class RedisExceptions implements ExceptionStore {
  readonly kind = "redis";
  readonly #link: RedisLink;
  readonly #seal: RecordSeal<unknown>;

  constructor(link: RedisLink, secret: KeyObject) {
    this.#link = link;
    this.#seal = new RecordSeal(secret, "exception");
  }

  async list(): Promise<readonly StoredException[] | undefined> {
    const reply = await this.#link.use("exceptions", KEY, (client) => client.hgetallBuffer(KEY));
    if (!reply) return undefined;
    return Object.entries(reply.value).flatMap(([id, sealed]) => {
      const record = this.#seal.open(id, sealed);
      return record === undefined ? [] : [parseStored(record)];
    });
  }

  async put(exception: StoredException): Promise<void> {
    const sealed = this.#seal.seal(exception.id, exception);
    await this.#change((client) => client.hset(KEY, exception.id, sealed));
  }

  async remove(id: string): Promise<void> {
    await this.#change((client) => client.hdel(KEY, id));
  }

  async #change(send: (client: RedisLink["client"]) => Promise<unknown>): Promise<void> {
    if (await this.#link.use("exceptions", KEY, send)) return;
    throw new GuardError("GUARD_UNAVAILABLE", "Redis does not respond, so the exceptions are unchanged.");
  }
}
