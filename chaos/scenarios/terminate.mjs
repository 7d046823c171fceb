import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "../texts.mjs";

export const summary = "SIGTERM under load";
export const durationMs = { full: 30_000, quick: 6000 };

/** The time within which a server under ordinary load answers all requests and exits. */
const MAX_EXIT_MS = 10_000;

export async function play(scenario) {
  const server = await scenario.serve(settings());
  const load = scenario.load(server, { clients: 32 });
  let rounds = 0;
  for (const end = Date.now() + scenario.durationMs; Date.now() < end; rounds++) {
    await sleep(1000 + Math.random() * 1000);
    // A request that was just sent may race with the close of its connection, so the signal follows a little later.
    const sent = load.inFlight();
    await sleep(100);
    const signalledAt = performance.now();
    server.signal("SIGTERM");
    const [outcomes, { code, signal }] = await Promise.all([sent, server.exited]);
    const exitMs = performance.now() - signalledAt;
    const lost = outcomes.filter(({ error }) => error);
    scenario.check(
      "all requests in flight are answered",
      lost.length === 0,
      `${outcomes.length} in flight, ${lost.map(({ error }) => error).join(", ")}`,
    );
    scenario.check(
      `the process exits by itself within ${MAX_EXIT_MS / 1000} s`,
      code === 0 && exitMs < MAX_EXIT_MS,
      `code ${code ?? signal} after ${exitMs.toFixed(0)} ms`,
    );
    scenario.recovered(await server.start());
  }
  scenario.note(`rounds         ${rounds}`);
}
