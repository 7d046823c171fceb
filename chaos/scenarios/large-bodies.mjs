import { setTimeout as sleep } from "node:timers/promises";
import { longText, settings } from "../texts.mjs";

export const summary = "many clients send large bodies at the same time";
export const durationMs = { full: 30_000, quick: 5000 };

const MEGABYTE = 2 ** 20;
const CLIENTS = 24;
const BODY_BYTES = 30 * MEGABYTE;
const BUDGET_BYTES = 64 * MEGABYTE;
/** How much memory a byte of a body takes at most while it is parsed and scanned: the bytes, the text, and its copies. */
const COPIES = 4;

export async function play(scenario) {
  const app = { max_body_size: 2 * BODY_BYTES, max_open_bodies: BUDGET_BYTES };
  const server = await scenario.serve(settings({ model: false, app }));
  const small = () => server.post("/analyze/prompt", { prompt: longText(500).text });
  for (let count = 0; count < 50; count++) await small();
  await sleep(8000);
  const before = server.rss();

  const body = { prompt: longText(BODY_BYTES).text };
  const statuses = new Map();
  const end = performance.now() + scenario.durationMs;
  const client = async () => {
    while (performance.now() < end) {
      const { status } = await server.post("/analyze/prompt", body).catch(() => ({ status: "connection lost" }));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await sleep(100);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  await Promise.all(clients);
  const { peak } = server.memory;
  scenario.note(`large bodies   ${[...statuses].map(([status, count]) => `${count} \u00d7 ${status}`).join(", ")}`);
  const limit = before + (COPIES * BUDGET_BYTES) / MEGABYTE;
  const observed = `${before.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most`;
  scenario.check(`memory grows by at most ${COPIES} times the budget`, peak < limit, observed);
  scenario.check("some large bodies are refused with 503", (statuses.get(503) ?? 0) > 0);
  scenario.check("a small request is answered afterwards", (await small()).status === 200);
  await sleep(15_000);
  const after = server.rss();
  const growth = 100 * (after / before - 1);
  scenario.check(
    "memory is at most 15 % higher after a rest",
    growth <= 15,
    `${after.toFixed(0)} MB, ${growth.toFixed(0)} %`,
  );
}
