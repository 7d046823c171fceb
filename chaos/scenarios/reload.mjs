import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Skipped } from "../scenario.mjs";
import { BANNED, knownText, settings } from "../texts.mjs";

export const summary = "SIGHUP under load, with good and with bad files";
export const duration = { full: 60, quick: 12 };

export async function play(scenario) {
  const plain = settings();
  const server = await scenario.serve(plain);
  server.signal("SIGHUP");
  await sleep(1000);
  if (!server.isRunning) throw new Skipped("this server ends with SIGHUP: it does not reload");
  await server.ready();

  const load = scenario.load(server, { clients: 4 });
  await sleep(5000);
  const before = server.rss();
  let rounds = 0;
  for (const end = Date.now() + scenario.seconds * 1000; Date.now() < end; rounds++) {
    const added = `new phrase number ${rounds}`;
    const prompt = `Please say ${added} to me.`;
    server.configure({
      ...plain,
      input_scanners: plain.input_scanners.map((entry) =>
        entry.type === "BanSubstrings" ? { ...entry, params: { ...entry.params, substrings: [BANNED, added] } } : entry,
      ),
    });
    const told = performance.now();
    server.signal("SIGHUP");
    let verdict = true;
    while (verdict !== false && performance.now() - told < 30_000) {
      verdict = (await server.post("/analyze/prompt", { prompt })).body.is_valid;
      await sleep(20);
    }
    scenario.recovered((performance.now() - told) / 1000);
    if (verdict !== false) scenario.check("a new file is used within 30 s", false);

    writeFileSync(server.file, "app: [this is not what it should be");
    server.signal("SIGHUP");
    await sleep(500);
    verdict = (await server.post("/analyze/prompt", { prompt })).body.is_valid;
    if (verdict !== false) scenario.check("a bad file changes nothing", false);
  }
  await load.stop();
  scenario.check("a new file is used, and a bad one changes nothing", true, `${rounds} rounds`);
  scenario.check(
    "all requests are answered meanwhile",
    load.all.status(200) === load.all.sent,
    JSON.stringify([...load.all.statuses, ...load.all.errors]),
  );
  // What is free is given back two seconds after the last scan.
  await sleep(4000);
  server.memory.after = server.rss();
  scenario.check(
    "memory returns",
    server.memory.after < before * 1.25,
    `${before.toFixed(0)} MB before, ${server.memory.after.toFixed(0)} after`,
  );
  scenario.check(
    "verdicts are right afterwards",
    (await server.post("/analyze/prompt", { prompt: knownText().text })).status === 200,
  );
}
