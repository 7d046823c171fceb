import { Registry } from "prom-client";
import { onTestFinished } from "vitest";
import type { Guard } from "../../src/guard/guard.ts";
import { type ProxyOptions, startProxy } from "../../src/proxy/start-proxy.ts";
import { exampleGuard } from "../../test/support/example-guard.ts";

/** A proxy under test, and its log. */
export interface StartedProxy {
  url: string;
  log: string[];
  /** The log lines of calls. */
  calls(): Record<string, unknown>[];
  close(): Promise<void>;
}

/** Starts a proxy in front of an address until the test ends. */
export async function startedProxy(
  upstream: string | string[],
  { guard, ...options }: Partial<Omit<ProxyOptions, "guard">> & { guard?: Guard } = {},
): Promise<StartedProxy> {
  const log: string[] = [];
  const judge = guard ?? (await exampleGuard());
  const proxy = await startProxy({
    upstreams: [upstream].flat(),
    port: 0,
    logger: { write: (line) => log.push(line) },
    guard: () => ({
      guard: judge,
      registry: new Registry(),
      load: async () => {},
      ready: async () => {},
      close: () => judge.close(),
      warnings: [],
      logLines: [],
    }),
    ...options,
  });
  onTestFinished(() => proxy.close());
  const calls = () => log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request");
  return { url: proxy.url, log, calls, close: () => proxy.close() };
}
