import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Skipped } from "../scenario.mjs";
import { BANNED, labelledText, settings } from "../texts.mjs";

export const summary = "SIGHUP under load, with valid and invalid files";
export const durationMs = { full: 60_000, quick: 12_000 };

export async function play(scenario) {
  const plain = settings();
  const server = await scenario.serve(plain);
  server.signal("SIGHUP");
  await sleep(1000);
  if (!server.isRunning) throw new Skipped("this server exits on SIGHUP: it does not reload");
  await server.waitUntilReady();

  const load = scenario.load(server, { clients: 4 });
  await sleep(5000);
  const before = server.rss();
  let rounds = 0;
  for (const end = Date.now() + scenario.durationMs; Date.now() < end; rounds++) {
    const added = `new phrase number ${rounds}`;
    const prompt = `Please say ${added} to me.`;
    server.configure({
      ...plain,
      input_scanners: plain.input_scanners.map((entry) =>
        entry.type === "BanSubstrings" ? { ...entry, params: { ...entry.params, substrings: [BANNED, added] } } : entry,
      ),
    });
    const signalledAt = performance.now();
    server.signal("SIGHUP");
    let verdict = true;
    while (verdict !== false && performance.now() - signalledAt < 30_000) {
      verdict = (await server.post("/analyze/prompt", { prompt })).body.is_valid;
      await sleep(20);
    }
    scenario.recovered(performance.now() - signalledAt);
    if (verdict !== false) scenario.check("a valid file is used within 30 s", false);

    writeFileSync(server.file, "app: [this is not what it should be");
    server.signal("SIGHUP");
    await sleep(500);
    verdict = (await server.post("/analyze/prompt", { prompt })).body.is_valid;
    if (verdict !== false) scenario.check("an invalid file changes nothing", false);
  }
  await load.stop();
  scenario.check("a valid file is used, and an invalid one changes nothing", true, `${rounds} rounds`);
  scenario.check(
    "all requests are answered during reloads",
    load.total.status(200) === load.total.sent,
    JSON.stringify([...load.total.statuses, ...load.total.errors]),
  );
  // guard releases the memory of models two seconds after the last scan. It collects garbage, such as replaced scanners, when the event loop has
  // been idle for up to ten seconds.
  await sleep(12_000);
  server.memory.after = server.rss();
  scenario.check(
    "memory is released",
    server.memory.after < before * 1.25,
    `${before.toFixed(0)} MB before, ${server.memory.after.toFixed(0)} after`,
  );
  scenario.check(
    "requests are answered afterwards",
    (await server.post("/analyze/prompt", { prompt: labelledText().text })).status === 200,
  );
}
