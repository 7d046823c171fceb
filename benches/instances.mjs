// npm run bench:instances [-- --quick]: 1, 2 and 4 servers with half a core each, behind HAProxy, with a cache in Redis. It measures
// throughput, latency and refusals, and counts what is lost when one server is killed and another is restarted under load.
//
// It needs `haproxy` and `redis-server`. The quotas need a writable cgroup (Linux, as root); without them the servers share all cores.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
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
const [connections, quota] = [Number(flags.connections), Number(flags.quota)];
const counts = (flags.instances ?? (flags.quick ? "1,2" : "1,2,4")).split(",").map(Number);
const GUARD = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const USERS = 64;
const nextPrompt = prompts(17);

/** The folders of cgroups (version 1 and 2), with the file and the content that limit CPU time to the quota. */
const CGROUPS = [
  { place: "/sys/fs/cgroup/cpu", file: "cpu.cfs_quota_us", limit: String(quota * 100_000) },
  { place: "/sys/fs/cgroup", file: "cpu.max", limit: `${quota * 100_000} 100000` },
];

/** Creates a cgroup with the quota, and returns its folder; undefined if that is not possible. */
function createCgroup(name) {
  const kind = CGROUPS.find(({ place }) => existsSync(join(place, "cgroup.procs")));
  if (!kind) return undefined;
  const group = join(kind.place, name);
  try {
    mkdirSync(group);
    writeFileSync(join(group, kind.file), kind.limit);
    return group;
  } catch {
    if (existsSync(group)) rmdirSync(group);
    return undefined;
  }
}

/** Starts a server in a cgroup. */
function startInstance(config, port, group) {
  const command = [process.execPath, GUARD, "serve", "--config", config, "--port", String(port)];
  return startProgram(command, port, ({ pid }) => group && writeFileSync(join(group, "cgroup.procs"), String(pid)));
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

/** Runs a program that listens on a port while `use` runs. */
async function withListener(program, args, port, use) {
  const child = spawn(program, args, { stdio: "ignore" });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  try {
    while (!(await isListening(port))) {
      if (child.exitCode !== null) throw new Error(`${program} exited with code ${child.exitCode}`);
      await sleep(20);
    }
    return await use();
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Requests of many users. A fifth of them repeat one of a few texts, so that the shared cache has something to do. */
function send(url) {
  const user = Math.floor(Math.random() * USERS);
  const prompt = Math.random() < 0.2 ? `Where do I find form ${user % 8}?` : nextPrompt();
  return post(`${url}/analyze/prompt`, { prompt }, { "x-user": String(user) });
}

/** @param during what happens while the load runs. */
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

/** Measures the instances behind HAProxy with one way to balance the load. */
async function measureBehindProxy(folder, ports, balance, steps) {
  const port = await freePort();
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, haproxyConfig(port, ports, balance));
  return withListener("haproxy", ["-f", file, "-db"], port, async () => {
    const rows = [];
    for (const [name, during] of steps) rows.push(await measure(name, `http://127.0.0.1:${port}`, during));
    return rows;
  });
}

/** Starts some instances and measures them. `disturbed` adds a load during which one is killed and one restarted. */
async function measureInstances(folder, config, { ports, groups, disturbed }) {
  const start = (index) => startInstance(config, ports[index], groups[index]);
  const instances = await Promise.all(ports.map((_, index) => start(index)));
  const restart = async (index, signal) => {
    await instances[index].stop(signal);
    instances[index] = await start(index);
  };
  const disturb = async () => {
    await sleep(seconds * 200);
    await restart(0, "SIGKILL");
    await restart(1, "SIGTERM");
  };
  const name = `${ports.length} × ${quota} core`;
  const steps = [[`${name}, round robin`], ...(disturbed ? [[`${name}, one killed, one restarted`, disturb]] : [])];
  try {
    const rows = await measureBehindProxy(folder, ports, "roundrobin", steps);
    if (ports.length === 1) return rows;
    return [...rows, ...(await measureBehindProxy(folder, ports, "hdr(x-user)", [[`${name}, by user`]]))];
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()));
  }
}

const machine = machineInfo();
console.log(formatMachine(machine));
const folder = mkdtempSync(join(tmpdir(), "guard-instances-"));
const most = Math.max(...counts);
const groups = Array.from({ length: most }, (_, index) => createCgroup(`guard-bench-${process.pid}-${index}`));
const limited = groups.every((group) => group !== undefined);
const redisPort = await freePort();
const config = join(folder, "scanners.yml");
writeFileSync(
  config,
  `app: { log_level: ERROR }
cache: { enabled: true, redis: "redis://127.0.0.1:${redisPort}" }
input_scanners:
  - type: PromptInjection
  - type: Secrets
  - type: InvisibleText
`,
);
const rows = [];
try {
  await withListener("redis-server", ["--port", String(redisPort), "--save", ""], redisPort, async () => {
    for (const count of counts) {
      const ports = [];
      for (let index = 0; index < count; index++) ports.push(await freePort());
      rows.push(...(await measureInstances(folder, config, { ports, groups, disturbed: count > 1 && count === most })));
    }
  });
} finally {
  agent.destroy();
  for (const group of groups) if (group) rmdirSync(group);
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
