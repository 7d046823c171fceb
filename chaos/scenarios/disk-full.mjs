import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Skipped } from "../scenario.mjs";
import { PACKAGE } from "../server.mjs";
import { labelledText, settings } from "../texts.mjs";

const run = promisify(execFile);

export const summary = "the disk of the audit log is full, with on_failure block and allow";
export const durationMs = { full: 20_000, quick: 6000 };

export async function play(scenario) {
  if (process.platform !== "linux") throw new Skipped("prlimit needs Linux");
  for (const onFailure of ["block", "allow"]) await fillDisk(scenario, onFailure);
}

/** A file size limit affects one process as a full disk affects all: a write is truncated, and the next one fails. */
async function fillDisk(scenario, onFailure) {
  const file = join(scenario.folder, `${onFailure}.jsonl`);
  const server = await scenario.serve(settings({ model: false, audit: { to: "file", file, on_failure: onFailure } }));
  const load = scenario.load(server, { clients: 4, next: () => labelledText(false) });
  const partMs = scenario.durationMs / 3;
  await sleep(partMs);
  const before = load.takeTally();
  scenario.check(
    `${onFailure}: every request is answered while there is space`,
    before.status(200) === before.sent,
    before.sent,
  );

  // The limit is inside a record, so that one is written partially.
  const limitFileSize = (size) => run("prlimit", ["--pid", String(server.pid), `--fsize=${size}:`]);
  await limitFileSize(statSync(file).size + 1500);
  await sleep(500);
  load.takeTally();
  await sleep(partMs);
  const full = load.takeTally();
  const expected = onFailure === "block" ? 503 : 200;
  scenario.check(
    `${onFailure}: status ${expected} while there is no space`,
    full.sent > 0 && full.status(expected) === full.sent,
    JSON.stringify([...full.statuses, ...full.errors]),
  );
  const lost = await server.metric("guard_audit_lost_total");
  scenario.check(`${onFailure}: lost records are counted`, lost > 0, lost);

  await limitFileSize("unlimited");
  const start = performance.now();
  const timeoutMs = 10_000;
  let count = 0;
  while (performance.now() - start < timeoutMs && count < 20)
    count = (await load.send()).status === 200 ? count + 1 : 0;
  scenario.recovered(performance.now() - start);
  scenario.check(`${onFailure}: requests are answered when there is space again`, count === 20);
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
    `${onFailure}: the audit log is intact and states its lost records`,
    result.faults.length === 0 && result.lost > 0,
    `${result.records} records, ${result.lost} lost`,
  );
}
