import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";

/** Whether a `redis-server` is installed. */
function isInstalled(): boolean {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** CI installs Redis on Linux, so the tests must run there. A developer's machine may skip them, but must say so. */
const isRequired = process.env.CI !== undefined && process.platform === "linux";

/** Whether the tests with Redis are skipped. */
export const skipsRedis = !isRequired && !isInstalled();
if (skipsRedis)
  console.warn("The tests with Redis are skipped: install redis-server (Debian: apt-get install redis-server).");

/** A Redis server of a test, on a socket of its own. */
export class RedisServer {
  readonly #folder = mkdtempSync(join(tmpdir(), "guard-redis-"));
  readonly #socket = join(this.#folder, "redis.sock");
  #process: ChildProcess | undefined;
  #client: Redis | undefined;

  /** The value of `redis` in a configuration. */
  get url(): string {
    return `unix://${this.#socket}`;
  }

  async start(): Promise<void> {
    const settings = ["--port", "0", "--unixsocket", this.#socket, "--save", "", "--dir", this.#folder];
    this.#process = spawn("redis-server", settings, { stdio: "ignore" });
    // By default a command fails after 20 attempts to connect; a busy machine takes longer to start the server.
    const attempts = { retryStrategy: () => 20, maxRetriesPerRequest: null };
    this.#client ??= new Redis(this.#socket, attempts).on("error", () => {});
    await this.#client.ping();
  }

  /** Kills the server, as a crash would, and deletes its data. */
  async kill(): Promise<void> {
    const ended = once(this.#process as ChildProcess, "exit");
    this.#process?.kill("SIGKILL");
    await ended;
  }

  /** Suspends the server, so that it answers nothing until it is resumed. Its connections stay open. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  async keys(): Promise<string[]> {
    return (this.#client as Redis).keys("*");
  }

  /** The names and the values of all keys. */
  async dump(): Promise<Buffer> {
    const client = this.#client as Redis;
    const keys = await client.keys("*");
    const values = await Promise.all(keys.map((key) => client.getBuffer(key)));
    return Buffer.concat([Buffer.from(keys.join("\n")), ...values.map((value) => value ?? Buffer.alloc(0))]);
  }

  get client(): Redis {
    return this.#client as Redis;
  }

  async close(): Promise<void> {
    this.#client?.disconnect();
    this.resume();
    await this.kill();
    rmSync(this.#folder, { recursive: true });
  }
}

/**
 * Starts a Redis server for the tests of a suite, and empties it before each test.
 *
 * @param key a variable of the environment that gets a new key before each test.
 */
export function redisForTests(key?: string): RedisServer {
  const redis = new RedisServer();
  beforeAll(() => redis.start());
  afterAll(() => redis.close());
  beforeEach(async () => {
    if (key !== undefined) vi.stubEnv(key, randomBytes(32).toString("base64"));
    await redis.client.flushall();
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });
  return redis;
}
