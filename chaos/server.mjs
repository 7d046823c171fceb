// `guard serve` or `guard proxy` in a process of its own, observed from outside.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The folder of the package under test. */
export const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

export class Server {
  #config;
  #options;
  #process;
  #sampling;
  /** The last lines that the server wrote. */
  log = "";
  /** Resident memory in MB: when the server was first ready, and its peak. */
  memory = { before: undefined, peak: 0 };

  /**
   * @param config the settings. They are written to a file as JSON, a subset of YAML.
   * @param options.command the command and its options, besides the settings and the port.
   * @param options.channel whether the server has an IPC channel, which {@link Server.probe} needs.
   * @param options.under the command that starts the server. It must replace itself with the server's process.
   */
  constructor(folder, config, options = {}) {
    this.file = join(folder, `scanners-${Math.random().toString(36).slice(2)}.yml`);
    this.#config = config;
    this.#options = {
      package: PACKAGE,
      nodeArguments: [],
      environment: {},
      under: [],
      command: ["serve"],
      channel: false,
      ...options,
    };
    this.configure(config);
  }

  configure(config) {
    this.#config = config;
    writeFileSync(this.file, JSON.stringify(this.#config));
  }

  get pid() {
    return this.#process.pid;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  get isRunning() {
    return this.#process?.exitCode === null && this.#process.signalCode === null;
  }

  /** Starts the server, on the same port each time. @returns the milliseconds until it was ready. */
  async start() {
    this.port ??= await freePort();
    const start = performance.now();
    const { nodeArguments, environment, under, command, channel } = this.#options;
    const main = join(this.#options.package, "dist/cli/main.js");
    const node = [...under, process.execPath, ...nodeArguments];
    const [program, ...args] = [...node, main, ...command, "--config", this.file, "--port", String(this.port)];
    const env = { ...process.env, ...environment };
    this.#process = spawn(program, args, { stdio: ["ignore", "pipe", "pipe", ...(channel ? ["ipc"] : [])], env });
    const appendToLog = (chunk) => {
      this.log = (this.log + chunk).slice(-20_000);
    };
    this.#process.stdout.on("data", appendToLog);
    this.#process.stderr.on("data", appendToLog);
    this.exited = once(this.#process, "exit").then(([code, signal]) => ({ code, signal }));
    await this.waitUntilReady();
    this.memory.before ??= this.rss();
    clearInterval(this.#sampling);
    this.#sampling = setInterval(() => {
      this.memory.peak = Math.max(this.memory.peak, this.rss() ?? 0);
    }, 100).unref();
    return performance.now() - start;
  }

  async waitUntilReady(timeoutMs = 60_000) {
    for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(20)) {
      if (!this.isRunning) throw new Error(`the server exited\n${this.log}`);
      const reply = await fetch(`${this.url}/readyz`).catch(() => undefined);
      await reply?.arrayBuffer();
      if (reply?.ok) return;
    }
    throw new Error(`the server was not ready within ${timeoutMs} ms\n${this.log}`);
  }

  /** The reply of the preloaded `resource-probe.mjs`. */
  async probe() {
    const reply = once(this.#process, "message");
    this.#process.send("probe");
    return (await reply)[0];
  }

  signal(name) {
    this.#process.kill(name);
  }

  async kill() {
    clearInterval(this.#sampling);
    if (this.isRunning) this.signal("SIGKILL");
    await this.exited;
  }

  /** Posts JSON. @returns the status, headers and body of the reply. */
  async post(path, body, headers = {}) {
    const reply = await fetch(this.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: reply.status, headers: reply.headers, body: await reply.json() };
  }

  /** The sum of a metric over all series whose labels contain `labels`. */
  async metric(name, labels = "") {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return text
      .split("\n")
      .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(labels))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  /** Resident memory in MB, or undefined if the process has exited. */
  rss() {
    try {
      const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, "utf8")) ?? [];
      return kilobytes && Number(kilobytes) / 1024;
    } catch {
      return undefined;
    }
  }

  /** The process ids of its workers. */
  children() {
    const path = `/proc/${this.pid}/task/${this.pid}/children`;
    return readFileSync(path, "utf8").trim().split(" ").map(Number);
  }

  /** The number of open files and sockets. */
  descriptors() {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
