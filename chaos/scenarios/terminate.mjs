import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "../texts.mjs";

export const summary = "SIGTERM under load";
export const duration = { full: 30, quick: 6 };

/** Seconds in which a server under ordinary load has answered all and ended. */
const MAY_TAKE = 10;

export async function play(scenario) {
  const server = await scenario.serve(settings());
  const load = scenario.load(server, { clients: 32 });
  let rounds = 0;
  for (const end = Date.now() + scenario.seconds * 1000; Date.now() < end; rounds++) {
    await sleep(1000 + Math.random() * 1000);
    // Those that were just sent may meet a connection that the server closes at that moment; a little later all have arrived.
    const sent = load.underWay();
    await sleep(100);
    const told = performance.now();
    server.signal("SIGTERM");
    const [outcomes, { code, signal }] = await Promise.all([sent, server.exited]);
    const took = (performance.now() - told) / 1000;
    const lost = outcomes.filter(({ error }) => error);
    scenario.check(
      "all requests under way are answered",
      lost.length === 0,
      `${outcomes.length} under way, ${lost.map(({ error }) => error).join(", ")}`,
    );
    scenario.check(
      `the process ends by itself within ${MAY_TAKE} s`,
      code === 0 && took < MAY_TAKE,
      `code ${code ?? signal} after ${took.toFixed(2)} s`,
    );
    scenario.recovered(await server.start());
  }
  scenario.note(`rounds         ${rounds}`);
}
