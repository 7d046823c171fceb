import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { PACKAGE } from "../server.mjs";
import { settings } from "../texts.mjs";

export const summary = "kill -9 at random times under load, with an audit log";
export const durationMs = { full: 180_000, quick: 20_000 };

export async function play(scenario) {
  const file = join(scenario.folder, "audit.jsonl");
  // Small files, so that some kills hit a rotation.
  const audit = { to: "file", file, max_size: 65_536, keep: 1000, on_failure: "block" };
  const server = await scenario.serve(settings({ audit }));
  const load = scenario.load(server, { clients: 8 });
  let kills = 0;
  for (const end = Date.now() + scenario.durationMs; Date.now() < end; ) {
    await sleep(500 + Math.random() * 2500);
    const killedAt = performance.now();
    await server.kill();
    kills++;
    await server.start();
    scenario.recovered(performance.now() - killedAt);
  }
  await sleep(1000);
  await load.stop();
  await server.kill();
  scenario.note(`kills          ${kills}`);

  const { stdout } = await promisify(execFile)(process.execPath, [
    join(PACKAGE, "dist/cli/main.js"),
    ...["audit", "verify", file, "--json"],
  ]).catch((error) => error);
  const { faults, records } = JSON.parse(stdout);
  scenario.check(
    "the audit log is intact after every kill",
    faults.length === 0,
    `${records} records, ${JSON.stringify(faults.slice(0, 2))}`,
  );
  const ids = new Set();
  for (const name of readdirSync(scenario.folder).filter((name) => name.startsWith("audit.jsonl")))
    for (const line of readFileSync(join(scenario.folder, name), "utf8").split("\n").filter(Boolean))
      ids.add(JSON.parse(line).request);
  const missing = load.total.answered.filter((id) => !ids.has(id));
  scenario.check(
    "every answered request is recorded",
    missing.length === 0,
    `${missing.length} of ${load.total.answered.length} missing`,
  );
}
