import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { onTestFinished } from "vitest";
import { type ExtProcOptions, startExtProc } from "../../src/grpc/start-ext-proc.ts";
import type { Guard } from "../../src/guard/guard.ts";
import { exampleGuard } from "../../test/support/example-guard.ts";
import { freePort } from "../../test/support/http-server.ts";
import { waitUntilUp } from "../../test/support/wait-until-up.ts";

/** An external processor under test, and its log. */
export interface StartedExtProc {
  /** The address of health checks and metrics. */
  url: string;
  port: number;
  log: string[];
  /** The log lines of calls. */
  calls(): Record<string, unknown>[];
  metrics(): Promise<string>;
  close(): Promise<void>;
}

/** Starts an external processor until the test ends. */
export async function startedExtProc({
  guard,
  ready = async () => {},
  ...options
}: Partial<Omit<ExtProcOptions, "guard">> & {
  guard?: Guard;
  ready?: () => Promise<void>;
} = {}): Promise<StartedExtProc> {
  const log: string[] = [];
  const judge = guard ?? (await exampleGuard());
  const registry = new Registry();
  const server = await startExtProc({
    port: 0,
    httpPort: 0,
    logger: { write: (line) => log.push(line) },
    guard: () => ({
      guard: judge,
      registry,
      load: async () => {},
      ready,
      close: () => judge.close(),
      warnings: [],
      logLines: [],
    }),
    ...options,
  });
  onTestFinished(() => server.close());
  return {
    url: server.url,
    port: server.grpcPort,
    log,
    calls: () => log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request"),
    metrics: () => registry.metrics(),
    close: () => server.close(),
  };
}

/** An Envoy under test. */
export interface StartedEnvoy {
  /** The address of its listener. */
  url: string;
  /** What it has written to its standard output. */
  output(): string;
}

/** Starts Envoy with a configuration until the test ends. */
export async function startedEnvoy(program: string, configOf: (port: number) => string): Promise<StartedEnvoy> {
  const folder = mkdtempSync(join(tmpdir(), "guard-envoy-"));
  const port = await freePort();
  const file = join(folder, "envoy.yaml");
  writeFileSync(file, configOf(port));
  const flags = [
    "--use-dynamic-base-id",
    "--concurrency",
    "1",
    "--log-level",
    "error",
    "--file-flush-interval-msec",
    "50",
  ];
  const child = spawn(program, ["-c", file, ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (bytes) => {
    output += bytes;
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilUp(`${url}/envoy-is-up`, child);
  return { url, output: () => output };
}
