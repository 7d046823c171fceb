import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Skipped } from "../scenario.mjs";
import { labelledText, settings } from "../texts.mjs";

export const summary = "Redis, used for the cache and rate limits, is killed, paused and restored";
export const durationMs = { full: 40_000, quick: 8000 };

export async function play(scenario) {
  try {
    execFileSync("redis-server", ["--version"]);
  } catch {
    throw new Skipped("there is no redis-server (Debian: apt-get install redis-server)");
  }
  const socket = join(scenario.folder, "redis.sock");
  const redis = createRedis(socket, scenario.folder);
  scenario.onEnd(() => redis.kill("SIGKILL"));
  await redis.start();
  await checkOutages(scenario, redis, "allow", `unix://${socket}`);
  await checkOutages(scenario, redis, "deny", `unix://${socket}`);
}

/** Sends load with Redis, without it, with a Redis that does not respond, and after each outage. */
async function checkOutages(scenario, redis, onError, url) {
  const config = settings({
    model: false,
    rate_limit: { enabled: true, limit: "100000000/minute", redis: url, on_redis_error: onError },
    cache: { enabled: true, redis: url },
  });
  const server = await scenario.serve(config, { environment: { GUARD_CACHE_KEY: randomBytes(32).toString("hex") } });
  // A third of the texts repeat, so that the cache has hits.
  const repeated = Array.from({ length: 20 }, () => labelledText(false));
  const next = () => (Math.random() < 0.3 ? repeated[Math.floor(Math.random() * 20)] : labelledText(false));
  const load = scenario.load(server, { clients: 8, next });
  const partMs = scenario.durationMs / 4;
  const settleMs = 700;
  await sleep(partMs);
  const before = load.takeTally();
  scenario.check(
    `${onError}: every request is answered while Redis is up`,
    before.status(200) === before.sent,
    outcomesOf(before),
  );

  for (const [outage, begin, finish] of [
    ["killed", () => redis.kill("SIGKILL"), () => redis.start()],
    ["paused", () => redis.pause(), () => redis.resume()],
  ]) {
    await begin();
    await sleep(settleMs);
    load.takeTally();
    await sleep(partMs);
    const without = load.takeTally();
    const expected = onError === "allow" ? 200 : 503;
    const others = without.sent - without.status(expected);
    scenario.check(
      `${onError}, Redis ${outage}: status ${expected}`,
      without.sent > 0 && others === 0,
      outcomesOf(without),
    );
    if (onError === "allow") {
      // One request a second probes Redis and waits for its timeout, which is beyond this quantile.
      const p99 = without.quantile(0.99);
      scenario.check(
        `${onError}, Redis ${outage}: requests do not wait for it`,
        p99 < 1000,
        `p99 ${p99.toFixed(0)} ms`,
      );
    }
    const restoredAt = performance.now();
    await finish();
    while ((await load.send()).status !== 200 || (await isWithoutRedis(server))) {
      if (performance.now() - restoredAt > 20_000) break;
      await sleep(50);
    }
    const recoveryMs = performance.now() - restoredAt;
    scenario.recovered(recoveryMs);
    scenario.check(
      `${onError}, Redis ${outage}: used again within 10 s`,
      recoveryMs < 10_000,
      `${recoveryMs.toFixed(0)} ms`,
    );
  }
  await load.stop();
  server.memory.after = server.rss();
  await server.kill();
}

const outcomesOf = (tally) => JSON.stringify(Object.fromEntries([...tally.statuses, ...tally.errors]));

/** Whether requests still fail to reach Redis. */
async function isWithoutRedis(server) {
  const failures = () => server.metric("guard_redis_failures_total");
  const first = await failures();
  await sleep(200);
  return (await failures()) > first;
}

/** Controls a Redis on a Unix socket. */
function createRedis(socket, folder) {
  let child;
  return {
    async start() {
      child = spawn("redis-server", ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder], {
        stdio: "ignore",
      });
      while (!existsSync(socket)) await sleep(20);
    },
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill(signal);
      await ended;
    },
    pause: () => child.kill("SIGSTOP"),
    resume: () => child.kill("SIGCONT"),
  };
}
