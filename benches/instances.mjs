// npm run bench:instances [-- --quick]: 1, 2 and 4 servers with half a core each, behind HAProxy, with a cache in Redis. It measures
// throughput, latency and refusals, and counts what is lost when one server is killed and another is restarted under load.
//
// It needs `haproxy` and `redis-server`. The quotas need a writable cgroup (Linux, as root); without them the servers share all cores.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { agent, closedLoop, latencyQuantile, post } from "./http-load.mjs";
import { formatMachine, machineInfo } from "./machine.mjs";
import { saveResults } from "./results.mjs";
import { freePort, startProgram } from "./server.mjs";
import { printTable } from "./table.mjs";
import { prompts } from "./texts/prompts.mjs";

const missing = ["haproxy", "redis-server"].filter((program) => spawnSync("which", [program]).status !== 0);
if (missing.length > 0) {
  console.log(`SKIPPED: ${missing.join(" and ")} not found`);
  process.exit(0);
}
const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seconds: { type: "string" },
    connections: { type: "string", default: "16" },
    instances: { type: "string" },
    quota: { type: "string", default: "0.5" },
  },
});
const seconds = Number(flags.seconds ?? (flags.quick ? 2 : 15));
const connections = Number(flags.connections);
const quota = Number(flags.quota);
const counts = (flags.instances ?? (flags.quick ? "1,2" : "1,2,4")).split(",").map(Number);
const root = fileURLToPath(new URL("../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guard-instances-"));
const USERS = 64;

/** Limits the CPU time of a process to a share of a core. Returns whether that worked. */
function limitCpu(pid, name) {
  for (const [place, file, value] of [
    ["/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", String(quota * 100_000)],
    ["/sys/fs/cgroup", "cpu.max", `${quota * 100_000} 100000`],
  ]) {
    try {
      if (!existsSync(join(place, "cgroup.procs"))) continue;
      const group = join(place, name);
      mkdirSync(group, { recursive: true });
      writeFileSync(join(group, file), value);
      writeFileSync(join(group, "cgroup.procs"), String(pid));
      groups.add(group);
      return true;
    } catch {
      // Try the next kind of cgroup.
    }
  }
  return false;
}
const groups = new Set();
let limited = true;

async function startInstance(port, redis) {
  const command = () => [
    process.execPath,
    join(root, "dist/cli/main.js"),
    "serve",
    "--config",
    config,
    "--port",
    String(port),
  ];
  return startProgram(command, port, {
    env: { REDIS_URL: redis, LOG_LEVEL: "ERROR" },
    onStart: ({ pid }) => {
      limited &&= limitCpu(pid, `guard-bench-${port}`);
    },
  });
}

/** HAProxy sends a request again if the connection fails or an instance answers nothing, which is safe: a scan changes nothing. */
function haproxyConfig(port, ports, balance) {
  return `defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  option redispatch 1
  retries 3
  retry-on conn-failure empty-response
frontend guard
  bind 127.0.0.1:${port}
  default_backend instances
backend instances
  balance ${balance}
  option httpchk GET /readyz
  default-server check inter 500ms fall 1 rise 1
${ports.map((own, index) => `  server guard${index} 127.0.0.1:${own}`).join("\n")}
`;
}

async function startTool(program, args, isReady) {
  const child = spawn(program, args, { stdio: "ignore" });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.once("error", () => {});
  for (let tries = 0; !(await isReady()); tries++) {
    if (tries > 100) throw new Error(`${program} did not start; is it installed?`);
    await sleep(50);
  }
  return async () => {
    child.kill("SIGTERM");
    await exited;
  };
}

const answers = (url) =>
  fetch(url)
    .then(({ ok }) => ok)
    .catch(() => false);
const next = prompts(17);

/** Requests of many users. A fifth of them repeat one of a few texts, so that the shared cache has something to do. */
function send(url) {
  const user = Math.floor(Math.random() * USERS);
  const prompt = Math.random() < 0.2 ? `Where do I find form ${user % 8}?` : next();
  return post(`${url}/analyze/prompt`, { prompt }, { "x-user": String(user) });
}

async function measure(name, url, during = async () => {}) {
  await closedLoop(() => send(url), connections, Math.min(2000, seconds * 500));
  const [replies] = await Promise.all([closedLoop(() => send(url), connections, seconds * 1000), during()]);
  const answered = replies.filter(({ status }) => status === 200);
  const refused = replies.filter(({ status }) => status === 503).length;
  return {
    name,
    perSecond: answered.length / seconds,
    refused: refused / replies.length,
    lost: replies.length - answered.length - refused,
    p50: latencyQuantile(answered, 0.5),
    p99: latencyQuantile(answered, 0.99),
  };
}

const config = join(folder, "scanners.yml");
writeFileSync(
  config,
  `app: { log_level: "\${LOG_LEVEL:ERROR}" }
cache: { enabled: true, redis: "\${REDIS_URL:redis://127.0.0.1:6379}" }
input_scanners:
  - type: PromptInjection
  - type: Secrets
  - type: InvisibleText
`,
);
const machine = machineInfo();
console.log(formatMachine(machine));
const rows = [];
const redisPort = await freePort();
const redis = `redis://127.0.0.1:${redisPort}`;
const stopRedis = await startTool(
  "redis-server",
  ["--port", String(redisPort), "--save", "", "--appendonly", "no"],
  async () => {
    await sleep(200);
    return true;
  },
);
try {
  for (const count of counts) {
    const ports = [];
    for (let index = 0; index < count; index++) ports.push(await freePort());
    const instances = await Promise.all(ports.map((port) => startInstance(port, redis)));
    try {
      for (const [word, balance] of [
        ["round robin", "roundrobin"],
        ["by user", "hdr(x-user)"],
      ]) {
        if (count === 1 && word === "by user") continue;
        const port = await freePort();
        const file = join(folder, "haproxy.cfg");
        writeFileSync(file, haproxyConfig(port, ports, balance));
        const url = `http://127.0.0.1:${port}`;
        const stop = await startTool("haproxy", ["-f", file, "-db"], () => answers(`${url}/readyz`));
        try {
          rows.push(await measure(`${count} × ${quota} core, ${word}`, url));
          if (count === Math.max(...counts) && word === "round robin") {
            const disturb = async () => {
              await sleep(seconds * 200);
              await instances[0].stop("SIGKILL");
              instances[0] = await startInstance(ports[0], redis);
              await instances[1].stop("SIGTERM");
              instances[1] = await startInstance(ports[1], redis);
            };
            rows.push(await measure(`${count} × ${quota} core, one killed, one restarted`, url, disturb));
          }
        } finally {
          await stop();
        }
      }
    } finally {
      await Promise.all(instances.map((instance) => instance.stop()));
    }
  }
} finally {
  await stopRedis();
  agent.destroy();
  for (const group of groups) {
    try {
      rmdirSync(group);
    } catch {
      // The kernel removes a group only after its processes are gone.
    }
  }
  rmSync(folder, { recursive: true, force: true });
}

console.log(
  `${connections} connections, ${seconds} s each${limited ? "" : ", without quotas: no cgroup could be made"}`,
);
printTable(
  ["", "answered/s", "refused %", "lost", "p50 ms", "p99 ms"],
  rows.map(({ name, perSecond, refused, lost, p50, p99 }) => [
    name,
    perSecond.toFixed(1),
    (100 * refused).toFixed(1),
    String(lost),
    p50.toFixed(0),
    p99.toFixed(0),
  ]),
);
saveResults("instances", { quick: flags.quick, machine, limited, rows });
