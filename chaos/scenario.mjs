// What every scenario has: a folder, servers, loads, and promises that are checked.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Load } from "./load.mjs";
import { Server } from "./server.mjs";

/** Is thrown where a scenario cannot be played here. */
export class Skipped extends Error {}

export class Scenario {
  #cleanups = [];
  #servers = [];
  #loads = [];
  checks = [];
  notes = [];
  recoveries = [];
  folder = mkdtempSync(join(tmpdir(), "guard-chaos-"));

  /** @param seconds how long the main part of the scenario takes. */
  constructor({ seconds, quick }) {
    this.seconds = seconds;
    this.quick = quick;
  }

  /** Says whether a promise was kept, and what was seen. */
  check(promise, isKept, seen = "") {
    this.checks.push({ promise, isKept: Boolean(isKept), seen: String(seen) });
  }

  note(text) {
    this.notes.push(text);
  }

  /** Seconds until something worked again. */
  recovered(seconds) {
    this.recoveries.push(seconds);
  }

  /** Starts a server that ends with the scenario. */
  async serve(config, options) {
    const server = new Server(this.folder, config, options);
    this.#servers.push(server);
    await server.start();
    return server;
  }

  /** Starts a load that ends with the scenario. */
  load(server, options) {
    const load = new Load(server, options);
    this.#loads.push(load);
    return load;
  }

  onEnd(cleanup) {
    this.#cleanups.push(cleanup);
  }

  /** Ends all that was started, and adds the checks that hold for all scenarios. */
  async end() {
    for (const server of this.#servers) server.memory.after ??= server.rss();
    await Promise.all(this.#servers.map((server) => server.kill().catch(() => {})));
    await Promise.all(this.#loads.map((load) => load.stop()));
    for (const cleanup of this.#cleanups.reverse()) await cleanup();
    rmSync(this.folder, { recursive: true, force: true });
    if (this.#loads.length === 0) return;
    const wrong = this.#loads.flatMap((load) => load.all.wrong);
    this.check(
      "every answer has the right verdict",
      wrong.length === 0,
      `${wrong.length} wrong ${wrong.slice(0, 2).join("; ")}`,
    );
  }

  /** Lines that say what happened. */
  lines() {
    const table = (name) => {
      const total = new Map();
      for (const load of this.#loads)
        for (const [key, number] of load.all[name]) total.set(key, (total.get(key) ?? 0) + number);
      return [...total].map(([key, number]) => `${number} × ${key}`).join(", ") || "none";
    };
    const megabytes = (value) => (value === undefined ? "–" : `${value.toFixed(0)} MB`);
    const max = Math.max(...this.recoveries);
    return [
      ...(this.#loads.length > 0
        ? [
            `load held      ${this.#loads.map((load) => `${load.rate.toFixed(0)}/s (p50 ${load.all.quantile(0.5).toFixed(2)} s, p99 ${load.all.quantile(0.99).toFixed(2)} s)`).join("; ")}`,
            `answers        ${table("statuses")}`,
            `errors         ${table("errors")}`,
          ]
        : []),
      ...(this.recoveries.length > 0
        ? [`recovery       ${max.toFixed(2)} s at most, ${this.recoveries.length} times`]
        : []),
      ...this.#servers.map(
        ({ memory }) =>
          `memory         before ${megabytes(memory.before)}, peak ${megabytes(memory.peak)}, after ${megabytes(memory.after)}`,
      ),
      ...this.notes,
      ...this.checks.map(
        ({ promise, isKept, seen }) => `${isKept ? "kept  " : "BROKEN"}  ${promise}${seen ? `: ${seen}` : ""}`,
      ),
    ];
  }
}
