import { setTimeout as sleep } from "node:timers/promises";
import { apart, together } from "../../benches/server.mjs";
import { Load } from "../load.mjs";
import { longText, settings } from "../texts.mjs";

export const summary = "ten times the load that the server can take";
export const duration = { full: 300, quick: 10 };

const OVERLOAD = 10;
const CHARACTERS = 8000;

export async function play(scenario) {
  // Otherwise the load would take away a part of what the server is measured by.
  const under = apart();
  try {
    await flood(scenario, under);
  } finally {
    together();
  }
}

async function flood(scenario, under) {
  const server = await scenario.serve(settings(), { under });
  const next = () => longText(CHARACTERS);
  const warm = new Load(server, { clients: 4, next });
  await sleep(3000);
  await warm.stop();
  const measuring = scenario.load(server, { clients: 4, next });
  await sleep(scenario.quick ? 5000 : 20_000);
  await measuring.stop();
  const best = measuring.rate;
  const before = server.rss();

  const health = watchHealth(server);
  const load = scenario.load(server, { clients: 0, next });
  const sent = [];
  const start = performance.now();
  for (let count = 0; count < OVERLOAD * best * scenario.seconds; count++) {
    const due = start + (count * 1000) / (OVERLOAD * best);
    if (due > performance.now()) await sleep(due - performance.now());
    sent.push(load.send());
  }
  const goodput = load.all.status(200) / ((performance.now() - start) / 1000);
  const over = performance.now();
  await Promise.all(sent);
  await load.stop();
  const slowest = await health.stop();

  const known = load.all.status(200) + load.all.status(503);
  scenario.note(
    `goodput        ${best.toFixed(1)}/s at best, ${goodput.toFixed(1)}/s (${((100 * goodput) / best).toFixed(0)} %) at ${OVERLOAD} times that`,
  );
  scenario.note(`healthz        ${slowest.toFixed(0)} ms at most`);
  scenario.check("at least 90 % of that is answered", goodput >= 0.9 * best);
  scenario.check(
    "half of the answers take 3 s at most",
    load.all.quantile(0.5) <= 3,
    `p50 ${load.all.quantile(0.5).toFixed(2)} s`,
  );
  scenario.check(
    "the rest is refused with 503",
    known === load.all.sent && load.all.status(503) > 0,
    `${load.all.sent - known} neither 200 nor 503`,
  );
  await answersAgain(scenario, server, over);
  await sleep(scenario.quick ? 1000 : 10_000);
  const after = server.rss();
  scenario.check(
    "memory does not grow with what is refused",
    server.memory.peak < before + 400,
    `${before.toFixed(0)} MB before, ${server.memory.peak.toFixed(0)} at most, ${after.toFixed(0)} after`,
  );
}

/** The time until a request is answered again. */
async function answersAgain(scenario, server, since) {
  while ((await server.post("/analyze/prompt", { prompt: longText(CHARACTERS).text })).status !== 200) await sleep(100);
  const seconds = (performance.now() - since) / 1000;
  scenario.recovered(seconds);
  scenario.check("requests are answered again within 5 s", seconds < 5, `${seconds.toFixed(2)} s`);
}

/** Asks `/healthz` all the time. @returns how to stop, which tells the milliseconds of the slowest answer. */
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
