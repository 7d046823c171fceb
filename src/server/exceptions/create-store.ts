import { createSecretKey } from "node:crypto";
import { resolve } from "node:path";
import { EXCEPTIONS_KEY } from "../../config/exception-key.ts";
import type { Config } from "../../config/index.ts";
import { GuardValidationError } from "../../support/errors.ts";
import type { RedisLinks } from "../redis/redis-link.ts";
import type { ExceptionStore } from "./exception-store.ts";
import { FileExceptions } from "./file-store.ts";
import { RedisExceptions } from "./redis-store.ts";

/**
 * Creates the store of the exceptions that are added at run time.
 *
 * @param memory the store without a file and Redis.
 * @throws GuardValidationError if the exceptions are kept in a file or in Redis, but the environment has no key. Hashes of exact texts would
 *   match nothing after a restart.
 */
export async function createStore(
  settings: Config["exceptions"],
  memory: ExceptionStore,
  links: RedisLinks,
  { key, hasKey }: { key: Uint8Array; hasKey: boolean },
): Promise<ExceptionStore> {
  const { file, redis } = settings ?? {};
  if (file === undefined && !redis) return memory;
  assertExceptionsKey(file === undefined ? "exceptions.redis" : "exceptions.file", hasKey);
  if (file !== undefined) return new FileExceptions(resolve(file));
  const link = await links.link("exceptions", redis);
  return link ? new RedisExceptions(link, createSecretKey(key)) : memory;
}

/** @throws GuardValidationError if the environment lacks the key that a setting needs. */
export function assertExceptionsKey(setting: string, hasKey: boolean): void {
  if (hasKey) return;
  throw new GuardValidationError([
    { path: EXCEPTIONS_KEY, message: `is required with ${setting}: openssl rand -base64 32` },
  ]);
}
