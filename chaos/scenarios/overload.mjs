import { setTimeout as sleep } from "node:timers/promises";
import { pinToLastCpu, unpin } from "../../benches/server.mjs";
import { Load } from "../load.mjs";
import { longText, settings } from "../texts.mjs";

export const summary = "ten times the load that the server can handle";
export const durationMs = { full: 300_000, quick: 10_000 };

const OVERLOAD = 10;
const CHARACTERS = 8000;

export async function play(scenario) {
  // The load generator must not take CPU time from the server.
  const under = pinToLastCpu();
  try {
    await flood(scenario, under);
  } finally {
    unpin();
  }
}

async function flood(scenario, under) {
  const server = await scenario.serve(settings(), { under });
  const next = () => longText(CHARACTERS);
  const warmUp = new Load(server, { clients: 4, next });
  await sleep(3000);
  await warmUp.stop();
  const measuring = scenario.load(server, { clients: 4, next });
  await sleep(scenario.isQuick ? 5000 : 20_000);
  await measuring.stop();
  const best = measuring.rate;
  const before = server.rss();

  const health = watchHealth(server);
  const load = scenario.load(server, { clients: 0, next });
  const sent = [];
  const start = performance.now();
  for (let count = 0; count < (OVERLOAD * best * scenario.durationMs) / 1000; count++) {
    const due = start + (count * 1000) / (OVERLOAD * best);
    if (due > performance.now()) await sleep(due - performance.now());
    sent.push(load.send());
  }
  const goodput = (1000 * load.total.status(200)) / (performance.now() - start);
  const endedAt = performance.now();
  await Promise.all(sent);
  await load.stop();
  const slowest = await health.stop();

  const expected = load.total.status(200) + load.total.status(503);
  scenario.note(
    `goodput        ${best.toFixed(1)}/s at best, ${goodput.toFixed(1)}/s (${((100 * goodput) / best).toFixed(0)} %) at ${OVERLOAD} times that`,
  );
  scenario.note(`healthz        ${slowest.toFixed(0)} ms at most`);
  scenario.check("the goodput is at least 90 % of the best", goodput >= 0.9 * best);
  scenario.check(
    "the median latency is at most 3 s",
    load.total.quantile(0.5) <= 3000,
    `p50 ${load.total.quantile(0.5).toFixed(0)} ms`,
  );
  scenario.check(
    "all other requests are refused with 503",
    expected === load.total.sent && load.total.status(503) > 0,
    `${load.total.sent - expected} neither 200 nor 503`,
  );
  await waitForAnswer(scenario, server, endedAt);
  await sleep(scenario.isQuick ? 1000 : 10_000);
  const after = server.rss();
  scenario.check(
    "memory does not grow with refused requests",
    server.memory.peak < before + 400,
    `${before.toFixed(0)} MB before, ${server.memory.peak.toFixed(0)} at most, ${after.toFixed(0)} after`,
  );
}

/** Measures the time until a request is answered again. */
async function waitForAnswer(scenario, server, since) {
  while ((await server.post("/analyze/prompt", { prompt: longText(CHARACTERS).text })).status !== 200) await sleep(100);
  const recoveryMs = performance.now() - since;
  scenario.recovered(recoveryMs);
  scenario.check("requests are answered again within 5 s", recoveryMs < 5000, `${recoveryMs.toFixed(0)} ms`);
}

/** Polls `/healthz` until `stop`, which returns the longest latency in milliseconds. */
export function watchHealth(server) {
  let slowest = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const start = performance.now();
      await fetch(`${server.url}/healthz`).then(
        (reply) => reply.arrayBuffer(),
        () => {},
      );
      slowest = Math.max(slowest, performance.now() - start);
      await sleep(50);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await watching;
      return slowest;
    },
  };
}
