import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Skipped } from "../scenario.mjs";
import { PACKAGE } from "../server.mjs";
import { knownText, settings } from "../texts.mjs";

const run = promisify(execFile);

export const summary = "no room for the audit log, with on_failure block and allow";
export const duration = { full: 20, quick: 6 };

export async function play(scenario) {
  if (process.platform !== "linux") throw new Skipped("prlimit is of Linux");
  for (const onFailure of ["block", "allow"]) await withoutRoom(scenario, onFailure);
}

/** A limit of the size of files does to one process what a full disk does to all: a write is cut short, and the next one fails. */
async function withoutRoom(scenario, onFailure) {
  const file = join(scenario.folder, `${onFailure}.jsonl`);
  const server = await scenario.serve(settings({ model: false, audit: { to: "file", file, on_failure: onFailure } }));
  const load = scenario.load(server, { clients: 4, next: () => knownText(false) });
  const part = (scenario.seconds / 3) * 1000;
  await sleep(part);
  const before = load.phase();
  scenario.check(`${onFailure}: all is answered while there is room`, before.status(200) === before.sent, before.sent);

  // Not at the end of a record, so that one is written in part.
  const limit = (size) => run("prlimit", ["--pid", String(server.pid), `--fsize=${size}:`]);
  await limit(statSync(file).size + 1500);
  await sleep(500);
  load.phase();
  await sleep(part);
  const full = load.phase();
  const wanted = onFailure === "block" ? 503 : 200;
  scenario.check(
    `${onFailure}: status ${wanted} while there is none`,
    full.sent > 0 && full.status(wanted) === full.sent,
    JSON.stringify([...full.statuses, ...full.errors]),
  );
  const lost = await server.metric("guard_audit_lost_total");
  scenario.check(`${onFailure}: what could not be recorded is counted`, lost > 0, lost);

  await limit("unlimited");
  const start = performance.now();
  const mayTake = 10_000;
  let count = 0;
  while (performance.now() - start < mayTake && count < 20) count = (await load.send()).status === 200 ? count + 1 : 0;
  scenario.recovered((performance.now() - start) / 1000);
  scenario.check(`${onFailure}: all goes on when there is room again`, count === 20);
  await load.stop();
  server.memory.after = server.rss();
  server.signal("SIGTERM");
  await server.exited;
  const { stdout } = await run(process.execPath, [
    join(PACKAGE, "dist/cli/main.js"),
    ...["audit", "verify", file, "--json"],
  ]).catch((error) => error);
  const result = JSON.parse(stdout);
  scenario.check(
    `${onFailure}: the audit log is whole, and says what is missing`,
    result.faults.length === 0 && result.lost > 0,
    `${result.records} records, ${result.lost} lost`,
  );
}
