import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Skipped } from "../scenario.mjs";
import { knownText, settings } from "../texts.mjs";

export const summary = "Redis killed, stopped and back again, as cache and for rate limits";
export const duration = { full: 40, quick: 8 };

export async function play(scenario) {
  try {
    execFileSync("redis-server", ["--version"]);
  } catch {
    throw new Skipped("there is no redis-server (Debian: apt-get install redis-server)");
  }
  const socket = join(scenario.folder, "redis.sock");
  const redis = startRedis(socket, scenario.folder);
  scenario.onEnd(() => redis.kill("SIGKILL"));
  await redis.start();
  await duringOutages(scenario, redis, "allow", `unix://${socket}`);
  await duringOutages(scenario, redis, "deny", `unix://${socket}`);
}

/** Load in four parts: with Redis, without it, with a Redis that says nothing, and with one that is back. */
async function duringOutages(scenario, redis, onError, url) {
  const config = settings({
    model: false,
    rate_limit: { enabled: true, limit: "100000000/minute", redis: url, on_redis_error: onError },
    cache: { enabled: true, redis: url },
  });
  const server = await scenario.serve(config, { environment: { GUARD_CACHE_KEY: randomBytes(32).toString("hex") } });
  // A third of the texts come up again, so that the cache is asked for what it has.
  const kept = Array.from({ length: 20 }, () => knownText(false));
  const next = () => (Math.random() < 0.3 ? kept[Math.floor(Math.random() * 20)] : knownText(false));
  const load = scenario.load(server, { clients: 8, next });
  const part = scenario.seconds * 250;
  const settle = 700;
  await sleep(part);
  const before = load.phase();
  scenario.check(`${onError}: all is answered while Redis is there`, before.status(200) === before.sent, said(before));

  for (const [outage, begin, finish] of [
    ["killed", () => redis.kill("SIGKILL"), () => redis.start()],
    ["silent", () => redis.pause(), () => redis.resume()],
  ]) {
    await begin();
    await sleep(settle);
    load.phase();
    await sleep(part);
    const without = load.phase();
    const wanted = onError === "allow" ? 200 : 503;
    const others = without.sent - without.status(wanted);
    // One request a second asks whether Redis is back, and waits for its time limit.
    scenario.check(`${onError}, Redis ${outage}: status ${wanted}`, without.sent > 0 && others === 0, said(without));
    if (onError === "allow") {
      const slow = without.quantile(0.99);
      scenario.check(`${onError}, Redis ${outage}: no request waits for it`, slow < 1, `p99 ${slow.toFixed(3)} s`);
    }
    const back = performance.now();
    await finish();
    while ((await load.send()).status !== 200 || (await isOut(server))) {
      if (performance.now() - back > 20_000) break;
      await sleep(50);
    }
    const took = (performance.now() - back) / 1000;
    scenario.recovered(took);
    scenario.check(`${onError}, Redis ${outage}: used again within 10 s`, took < 10, `${took.toFixed(2)} s`);
  }
  await load.stop();
  server.memory.after = server.rss();
  await server.kill();
}

const said = (tally) => JSON.stringify(Object.fromEntries([...tally.statuses, ...tally.errors]));

/** Whether requests still do without Redis. */
async function isOut(server) {
  const failures = () => server.metric("guard_redis_failures_total");
  const first = await failures();
  await sleep(200);
  return (await failures()) > first;
}

/** A Redis on a socket. */
function startRedis(socket, folder) {
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
