import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { vi } from "vitest";

interface ClientOptions {
  password?: string;
  tls?: { rejectUnauthorized: boolean };
  enableReadyCheck?: boolean;
}

/** A process of Redis on a port, with a client of the test. */
export class RedisProcess {
  readonly port: number;
  readonly client: Redis;
  readonly #process: ChildProcess;

  constructor(port: number, args: readonly string[], options: ClientOptions = {}) {
    this.port = port;
    this.#process = spawn("redis-server", args, { stdio: "ignore" });
    this.client = new Redis({ port, retryStrategy: () => 20, ...options }).on("error", () => {});
  }

  /** Kills the process, as a crash would. */
  async kill(): Promise<void> {
    this.client.disconnect();
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }
}

/** Processes of Redis in a folder that is deleted in the end. */
class RedisGroup {
  protected readonly folder = mkdtempSync(join(tmpdir(), "guard-redis-"));
  protected readonly processes: RedisProcess[] = [];

  protected add(process: RedisProcess): RedisProcess {
    this.processes.push(process);
    return process;
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()));
    rmSync(this.folder, { recursive: true });
  }
}

/** A primary with a replica and a sentinel, all with TLS and passwords. */
export class SentinelGroup extends RedisGroup {
  readonly password = "of-the-servers";
  readonly sentinelPassword = "of-the-sentinels";
  sentinelPort = 0;
  primary!: RedisProcess;

  async start(): Promise<void> {
    const [port, replicaPort, sentinelPort] = (await freePorts(3)) as [number, number, number];
    this.sentinelPort = sentinelPort;
    const tls = this.#makeCertificate();
    const { password } = this;
    const server = (at: number, more: string[] = []) => {
      const settings = ["--save", "", "--dir", this.folder, "--requirepass", password, "--masterauth", password];
      const replication = ["--repl-diskless-sync-delay", "0", "--tls-replication", "yes"];
      const args = ["--port", "0", "--tls-port", String(at), ...tls, ...settings, ...replication, ...more];
      return this.add(new RedisProcess(at, args, { password, tls: { rejectUnauthorized: false } }));
    };
    this.primary = server(port);
    const replica = server(replicaPort, ["--replicaof", "127.0.0.1", String(port)]);
    await vi.waitFor(async () => expectText(await replica.client.info("replication"), "master_link_status:up"), 20_000);
    const file = join(this.folder, "sentinel.conf");
    const lines = [
      ...["sentinel monitor main 127.0.0.1 %PORT 1", "sentinel down-after-milliseconds main 400"],
      ...["sentinel failover-timeout main 1000", `sentinel auth-pass main ${password}`],
      ...[`requirepass ${this.sentinelPassword}`, `dir ${this.folder}`],
    ];
    writeFileSync(file, lines.join("\n").replace("%PORT", String(port)));
    const args = [file, "--sentinel", "--port", "0", "--tls-port", String(sentinelPort), ...tls];
    const options = { password: this.sentinelPassword, tls: { rejectUnauthorized: false } };
    const sentinel = this.add(
      new RedisProcess(sentinelPort, [...args, "--tls-replication", "yes"], { ...options, enableReadyCheck: false }),
    );
    await vi.waitFor(
      async () => expectText(String(await sentinel.client.call("INFO", "sentinel")), "status=ok,", "slaves=1"),
      20_000,
    );
  }

  #makeCertificate(): string[] {
    const [key, certificate] = [join(this.folder, "key.pem"), join(this.folder, "certificate.pem")];
    const form = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
    const subject = ["-subj", "/CN=127.0.0.1", "-keyout", key, "-out", certificate];
    execFileSync("openssl", ["req", ...form, ...subject], { stdio: "ignore" });
    const files = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate];
    return [...files, "--tls-auth-clients", "no"];
  }
}

/** The slots of each of the two primaries of a cluster. */
const HALVES = [
  ["0", "8191"],
  ["8192", "16383"],
] as const;

/** A cluster of two primaries, the first of which has a replica. */
export class ClusterGroup extends RedisGroup {
  primaries!: [RedisProcess, RedisProcess];
  replica!: RedisProcess;

  get nodes(): string[] {
    return this.processes.map(({ port }) => `127.0.0.1:${port}`);
  }

  async start(): Promise<void> {
    const ports = await freePorts(6);
    const nodes = ports.slice(0, 3).map((port, index) => {
      const settings = ["--save", "", "--dir", this.folder, "--repl-diskless-sync-delay", "0"];
      const names = ["--cluster-config-file", `nodes-${port}.conf`, "--cluster-port", String(ports[index + 3])];
      const cluster = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000", ...names];
      const coverage = ["--cluster-require-full-coverage", "no"];
      return this.add(new RedisProcess(port, ["--port", String(port), ...settings, ...cluster, ...coverage]));
    }) as [RedisProcess, RedisProcess, RedisProcess];
    const [first, second, replica] = nodes;
    this.primaries = [first, second];
    this.replica = replica;
    for (const [index, { client }] of nodes.entries()) await client.cluster("SET-CONFIG-EPOCH", index + 1);
    for (const [index, [from, to]] of HALVES.entries()) {
      await (nodes[index] as RedisProcess).client.call("CLUSTER", "ADDSLOTSRANGE", from, to);
    }
    for (const [index, { port }] of nodes.slice(1).entries()) {
      await first.client.call("CLUSTER", "MEET", "127.0.0.1", String(port), String(ports[index + 4]));
    }
    const id = await idOf(first);
    const wait = 20_000;
    await vi.waitFor(async () => void (await replica.client.cluster("REPLICATE", id)), wait);
    await vi.waitFor(async () => expectText(await replica.client.info("replication"), "master_link_status:up"), wait);
    for (const { client } of nodes) {
      const slots = ["cluster_slots_assigned:16384", "cluster_known_nodes:3", "cluster_state:ok"];
      await vi.waitFor(async () => expectText(String(await client.cluster("INFO")), ...slots), wait);
    }
    await vi.waitFor(async () => expectText(String(await second.client.cluster("NODES")), " slave "), wait);
  }

  /** Moves a slot with its keys from one primary to the other. `during` runs after the keys have moved, before the nodes know. */
  async moveSlot(slot: number, from: RedisProcess, to: RedisProcess, during: () => Promise<void>): Promise<void> {
    const target = await idOf(to);
    await to.client.cluster("SETSLOT", slot, "IMPORTING", await idOf(from));
    await from.client.cluster("SETSLOT", slot, "MIGRATING", target);
    const keys = (await from.client.cluster("GETKEYSINSLOT", slot, 100)) as string[];
    await from.client.call("MIGRATE", "127.0.0.1", String(to.port), "", "0", "5000", "KEYS", ...keys);
    await during();
    for (const { client } of [to, from]) await client.cluster("SETSLOT", slot, "NODE", target);
  }
}

async function idOf({ client }: RedisProcess): Promise<string> {
  return String(await client.cluster("MYID"));
}

function expectText(text: string, ...parts: string[]): void {
  for (const part of parts) if (!text.includes(part)) throw new Error(`without ${part}: ${text}`);
}

/** Returns different ports that are free now. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}
