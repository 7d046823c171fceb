// The context of a scenario: a folder, servers, loads, and the promises that it checks.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Load } from "./load.mjs";
import { Server } from "./server.mjs";

/** Thrown if a scenario can't run on this machine. */
export class Skipped extends Error {}

export class Scenario {
  #cleanups = [];
  #servers = [];
  #loads = [];
  checks = [];
  notes = [];
  recoveries = [];
  folder = mkdtempSync(join(tmpdir(), "guard-chaos-"));

  /** @param durationMs the duration of the main part of the scenario. */
  constructor({ durationMs, isQuick }) {
    this.durationMs = durationMs;
    this.isQuick = isQuick;
  }

  /** Records whether a promise was kept, with what was observed. */
  check(promise, isKept, observed = "") {
    this.checks.push({ promise, isKept: Boolean(isKept), observed: String(observed) });
  }

  note(text) {
    this.notes.push(text);
  }

  /** Records the time until something worked again, in milliseconds. */
  recovered(ms) {
    this.recoveries.push(ms);
  }

  /** Starts a server that stops with the scenario. */
  async serve(config, options) {
    const server = new Server(this.folder, config, options);
    this.#servers.push(server);
    await server.start();
    return server;
  }

  /** Starts a load that stops with the scenario. */
  load(server, options) {
    const load = new Load(server, options);
    this.#loads.push(load);
    return load;
  }

  onEnd(cleanup) {
    this.#cleanups.push(cleanup);
  }

  /** Stops servers and loads, and adds the checks of all scenarios. */
  async end() {
    for (const server of this.#servers) server.memory.after ??= server.rss();
    await Promise.all(this.#servers.map((server) => server.kill().catch(() => {})));
    await Promise.all(this.#loads.map((load) => load.stop()));
    for (const cleanup of this.#cleanups.reverse()) await cleanup();
    rmSync(this.folder, { recursive: true, force: true });
    if (this.#loads.length === 0) return;
    const wrong = this.#loads.flatMap((load) => load.total.wrong);
    this.check("every verdict is correct", wrong.length === 0, `${wrong.length} wrong ${wrong.slice(0, 2).join("; ")}`);
  }

  /** The report as lines. */
  lines() {
    const table = (name) => {
      const total = new Map();
      for (const load of this.#loads)
        for (const [key, count] of load.total[name]) total.set(key, (total.get(key) ?? 0) + count);
      return [...total].map(([key, count]) => `${count} × ${key}`).join(", ") || "none";
    };
    const megabytes = (value) => (value === undefined ? "–" : `${value.toFixed(0)} MB`);
    const max = Math.max(...this.recoveries);
    return [
      ...(this.#loads.length > 0
        ? [
            `load           ${this.#loads.map((load) => `${load.rate.toFixed(0)}/s (p50 ${load.total.quantile(0.5).toFixed(0)} ms, p99 ${load.total.quantile(0.99).toFixed(0)} ms)`).join("; ")}`,
            `statuses       ${table("statuses")}`,
            `errors         ${table("errors")}`,
          ]
        : []),
      ...(this.recoveries.length > 0
        ? [`recovery       ${max.toFixed(0)} ms at most, ${this.recoveries.length} times`]
        : []),
      ...this.#servers.map(
        ({ memory }) =>
          `memory         before ${megabytes(memory.before)}, peak ${megabytes(memory.peak)}, after ${megabytes(memory.after)}`,
      ),
      ...this.notes,
      ...this.checks.map(
        ({ promise, isKept, observed }) =>
          `${isKept ? "kept  " : "BROKEN"}  ${promise}${observed ? `: ${observed}` : ""}`,
      ),
    ];
  }
}
