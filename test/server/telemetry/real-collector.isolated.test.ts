import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../support/http-server.ts";
import { askingScanners, testServer } from "../fixtures.ts";

/**
 * The program of Rotel, a collector that Python's package `rotel` contains. It logs what it receives. Without it this test is
 * skipped, and only `telemetry.test.ts` checks what is sent.
 */
const program = process.env.GUARD_COLLECTOR ?? "";

async function startCollector() {
  const [grpc, http] = [await freePort(), await freePort()];
  const log = ["--debug-log", "traces", "--debug-log", "metrics", "--debug-log-verbosity", "detailed"];
  const addresses = ["--otlp-grpc-endpoint", `127.0.0.1:${grpc}`, "--otlp-http-endpoint", `127.0.0.1:${http}`];
  const child = spawn(program, ["start", "--exporter", "blackhole", ...addresses, ...log]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  const url = `http://127.0.0.1:${http}`;
  const isUp = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await expect.poll(isUp, { timeout: 10_000 }).toBe(true);
  return { url, received: () => text };
}

describe.skipIf(!existsSync(program))("a real collector", () => {
  it("accepts traces and metrics", async () => {
    const { url, received } = await startCollector();
    const { app, post } = await testServer(
      { input: askingScanners("First") },
      { tracing: { exporter: "otel_http", endpoint: url }, metrics: { exporter: "otel_http", endpoint: url } },
    );
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    expect((await post("/scan/prompt", { prompt: "a CANARY" }, { traceparent })).statusCode).toBe(200);
    await app.close();
    await expect.poll(received).toMatch(/Name +: POST \/scan\/prompt/);
    await expect.poll(received).toContain("guard_http_requests_total");
    for (const part of [
      /Trace ID +: 0af7651916cd43dd8448eb211c80319c/,
      /Parent ID +: b7ad6b7169203331/,
      /Kind +: SPAN_KIND_SERVER/,
      /Name +: scanner First/,
      /Name +: model /,
      /guard\.model\.inferred_ms: Double/,
      /service\.name: Str\(LLM Guard API\)/,
    ]) {
      expect(received()).toMatch(part);
    }
    expect(received()).not.toContain("CANARY");
  });
});
