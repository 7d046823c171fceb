// `guard serve` as a process of its own, and what can be seen of it from outside.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The folder of the package that is tried. */
export const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

export class Server {
  #config;
  #options;
  #process;
  #sampling;
  /** The end of what the server wrote. */
  log = "";
  /** Resident memory in MB: when it was ready for the first time, and at most. */
  memory = { before: undefined, peak: 0 };

  /**
   * @param config the settings, which are written to a file as JSON, a subset of YAML.
   * @param options.channel whether {@link Server.ask} can ask it.
   * @param options.under the command that starts it, if any, in the place of itself: its process is the server's.
   */
  constructor(folder, config, options = {}) {
    this.file = join(folder, `scanners-${Math.random().toString(36).slice(2)}.yml`);
    this.#config = config;
    this.#options = { package: PACKAGE, nodeArguments: [], environment: {}, under: [], channel: false, ...options };
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

  /** Starts it, on the same port each time. @returns the seconds until it was ready. */
  async start() {
    this.port ??= await freePort();
    const start = performance.now();
    const { nodeArguments, environment, under, channel } = this.#options;
    const main = join(this.#options.package, "dist/cli/main.js");
    const node = [...under, process.execPath, ...nodeArguments];
    const [program, ...rest] = [...node, main, "serve", "--config", this.file, "--port", String(this.port)];
    const env = { ...process.env, ...environment };
    this.#process = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe", ...(channel ? ["ipc"] : [])], env });
    const keep = (chunk) => {
      this.log = (this.log + chunk).slice(-20_000);
    };
    this.#process.stdout.on("data", keep);
    this.#process.stderr.on("data", keep);
    this.exited = once(this.#process, "exit").then(([code, signal]) => ({ code, signal }));
    await this.ready();
    this.memory.before ??= this.rss();
    clearInterval(this.#sampling);
    this.#sampling = setInterval(() => {
      this.memory.peak = Math.max(this.memory.peak, this.rss() ?? 0);
    }, 100).unref();
    return (performance.now() - start) / 1000;
  }

  /** Waits until it is ready. */
  async ready(seconds = 60) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(20)) {
      if (!this.isRunning) throw new Error(`the server ended\n${this.log}`);
      const reply = await fetch(`${this.url}/readyz`).catch(() => undefined);
      await reply?.arrayBuffer();
      if (reply?.ok) return;
    }
    throw new Error(`the server was not ready in time\n${this.log}`);
  }

  /** What a module that `nodeArguments` load into it, such as `looks.mjs`, answers to a message. */
  async ask() {
    const answer = once(this.#process, "message");
    this.#process.send("look");
    return (await answer)[0];
  }

  signal(name) {
    this.#process.kill(name);
  }

  async kill() {
    clearInterval(this.#sampling);
    if (this.isRunning) this.signal("SIGKILL");
    await this.exited;
  }

  /** Posts a body. @returns the status and what was answered. */
  async post(path, body, headers = {}) {
    const reply = await fetch(this.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: reply.status, headers: reply.headers, body: await reply.json() };
  }

  /** The sum of a metric over all labels that match. */
  async metric(name, labels = "") {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return text
      .split("\n")
      .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(labels))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  /** Resident memory in MB, or undefined where the process is not there any more. */
  rss() {
    try {
      const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, "utf8")) ?? [];
      return kilobytes && Number(kilobytes) / 1024;
    } catch {
      return undefined;
    }
  }

  /** How many files and sockets it has open. */
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
