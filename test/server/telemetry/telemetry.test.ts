import { createRequire } from "node:module";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import type { EngineTimings } from "../../../src/native.ts";
import { startServer } from "../../../src/server/index.ts";
import { askingScanners, injectionScanner, scannerOf, testServer, waitingScanner, wordScanner } from "../fixtures.ts";
import { collector, type ReceivedSpan } from "./collector.ts";

const { cache } = createRequire(import.meta.url);
/** Whether a package of the SDK is loaded. Vitest itself loads the package `api`. */
const isSdkLoaded = () => Object.keys(cache).some((path) => /@opentelemetry[\\/](?!api[\\/])/.test(path));

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const traceparent = `00-${TRACE}-${PARENT}-01`;

const traced = (endpoint: string, exporter: "otel_http" | "xray" = "otel_http"): ConfigInput => ({
  tracing: { exporter, endpoint },
});

/** Sets variables of the environment for one test. */
function withVariables(variables: Record<string, string>) {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

const named = (spans: readonly ReceivedSpan[], name: string) => {
  const found = spans.filter((span) => span.name === name);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0] as ReceivedSpan;
};

describe("a server without an exporter", () => {
  it("loads nothing of the SDK", async () => {
    const { post } = await testServer({ input: [wordScanner("x")] });
    await post("/scan/prompt", { prompt: "x" }, { traceparent });
    expect(isSdkLoaded()).toBe(false);
    const { url } = await collector();
    await testServer({}, traced(url));
    expect(isSdkLoaded()).toBe(true);
  });
});

describe("traces", () => {
  it("tell which scanners only monitor, and what would have happened", async () => {
    const { url, spans } = await collector();
    const scanners = [wordScanner("bird", { name: "First", mode: "monitor" }), wordScanner("bird")];
    const { app, post } = await testServer({ input: scanners }, traced(url));
    await post("/scan/prompt", { prompt: "a bird" });
    await app.close();
    expect(named(spans(), "POST /scan/prompt").attributes).toMatchObject({
      "guard.flagged": ["Word"],
      "guard.would_block": ["First"],
    });
    expect(named(spans(), "scanner First").attributes).toMatchObject({ "guard.scanner.mode": "monitor" });
    expect(named(spans(), "scanner Word").attributes).not.toHaveProperty("guard.scanner.mode");
  });

  it("have a span for the request in the caller's trace, and a child span for each scanner", async () => {
    const { url, spans, resources, requests, bytes } = await collector();
    const scanners = [wordScanner("CANARY", { name: "First" }), wordScanner("bird")];
    const { app, post, log } = await testServer({ input: scanners }, traced(url));
    const headers = { traceparent, tracestate: "vendor=value", "user-agent": "CANARY" };
    const reply = await post("/scan/prompt?CANARY=1", { prompt: "a CANARY", details: true }, headers);
    expect(reply.statusCode).toBe(200);
    await app.close();

    const request = named(spans(), "POST /scan/prompt");
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: "vendor=value", kind: 2 });
    expect(request.status).toBe(0);
    expect(request.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/scan/prompt",
      "http.response.status_code": 200,
      "url.path": "/scan/prompt",
      "url.scheme": "http",
      "network.protocol.version": "1.1",
      "guard.valid": false,
      "guard.flagged": ["First"],
    });
    const first = named(spans(), "scanner First");
    expect(first).toMatchObject({ traceId: TRACE, parentSpanId: request.spanId, kind: 1, status: 0 });
    expect(first.attributes).toEqual({
      "guard.scanner.name": "First",
      "guard.scanner.type": "Word",
      "guard.scanner.valid": false,
      "guard.scanner.score": 1,
      "guard.scanner.findings": 1,
      "guard.text.length": 8,
    });
    expect(named(spans(), "scanner Word").attributes).toMatchObject({ "guard.scanner.valid": true });
    for (const { start, end } of spans()) {
      expect(start >= request.start).toBe(true);
      expect(end >= start).toBe(true);
      expect(end <= request.end).toBe(true);
    }
    expect(resources()[0]).toMatchObject({ "service.name": "LLM Guard API", "telemetry.sdk.language": "nodejs" });
    expect(resources()[0]?.["service.instance.id"]).toBeTruthy();
    expect(requests[0]).toMatchObject({
      path: "/v1/traces",
      headers: { "content-type": "application/x-protobuf" },
    });
    expect(bytes().includes("CANARY")).toBe(false);
    const line = log.map((text) => JSON.parse(text)).find(({ msg }) => msg === "request");
    expect(line).toMatchObject({ trace_id: TRACE, span_id: request.spanId });
  });

  it("have a span for each model, below the scanner that first called it", async () => {
    const { url, spans, bytes } = await collector();
    const { app, post } = await testServer({ input: askingScanners("First", "Second") }, traced(url));
    const reply = await post("/scan/prompt", { prompt: "A canary is a small bird.", details: true });
    await app.close();

    const [[model, { queued, tokenized, inferred }]] = Object.entries<EngineTimings>(reply.json().engine_timing) as [
      [string, EngineTimings],
    ];
    const asked = named(spans(), `model ${model}`);
    expect(asked.attributes).toEqual({
      "guard.model.name": model,
      "guard.model.queued_ms": queued,
      "guard.model.tokenized_ms": tokenized,
      "guard.model.inferred_ms": inferred,
    });
    expect(asked.parentSpanId).toBe(named(spans(), "scanner First").spanId);
    expect(named(spans(), "scanner Second").status).toBe(0);
    expect(bytes().includes("canary")).toBe(false);
  });

  it("of a conversation separate its parts", async () => {
    const { url, spans } = await collector();
    const config = { ...traced(url), conversation: { risk: { enabled: true } } };
    const { app, post } = await testServer({ input: [injectionScanner()] }, config);
    const messages = [
      { role: "user", content: "p=0.5" },
      { role: "assistant", content: "Yes?" },
      { role: "user", content: "p=0.6" },
      { role: "tool", content: "p=0.99" },
    ];
    await post("/analyze/conversation", { messages });
    await app.close();
    const request = named(spans(), "POST /analyze/conversation");
    const parts = ["", "[window]", "[tool]"].map((suffix) => `PromptInjection${suffix}`);
    for (const name of [...parts, "ConversationRisk"]) {
      expect(named(spans(), `scanner ${name}`).parentSpanId).toBe(request.spanId);
    }
    expect(request.attributes).toMatchObject({ "guard.flagged": ["PromptInjection[tool]"] });
  });

  it("name an error without its message", async () => {
    const { url, spans, bytes } = await collector();
    const broken = scannerOf("Broken", async (text) => {
      throw new TypeError(text);
    });
    const { app, post } = await testServer({ input: [broken] }, traced(url));
    expect((await post("/scan/prompt", { prompt: "CANARY" })).statusCode).toBe(500);
    expect((await post("/CANARY", {})).statusCode).toBe(404);
    expect((await post("/scan/prompt", { prompt: 1 })).statusCode).toBe(422);
    await app.close();
    const [failed, invalid] = spans().filter(({ name }) => name === "POST /scan/prompt");
    expect(failed).toMatchObject({ status: 2, attributes: { "error.type": "500", "http.response.status_code": 500 } });
    expect(invalid).toMatchObject({ status: 0, attributes: { "http.response.status_code": 422 } });
    expect(named(spans(), "scanner Broken")).toMatchObject({ status: 2, attributes: { "error.type": "TypeError" } });
    expect(named(spans(), "POST").attributes).not.toHaveProperty("url.path");
    expect(bytes().includes("CANARY")).toBe(false);
  });

  it("omit health checks and unsampled traces of callers", async () => {
    const { url, spans, requests } = await collector();
    const { app, get, post } = await testServer({ input: [wordScanner("x")] }, traced(url));
    for (const path of ["/healthz", "/readyz", "/"]) await get(path, { traceparent });
    await post("/scan/prompt", { prompt: "x" }, { traceparent: `00-${TRACE}-${PARENT}-00` });
    await app.close();
    expect([spans(), requests]).toEqual([[], []]);
  });

  it("start a new trace if the caller's trace is malformed", async () => {
    const { url, spans } = await collector();
    const { app, post } = await testServer({}, traced(url));
    await post("/scan/prompt", { prompt: "x" }, { traceparent: "00-0-0-01", "x-amzn-trace-id": `Root=1-0-${TRACE}` });
    await app.close();
    expect(named(spans(), "POST /scan/prompt")).toMatchObject({ parentSpanId: "" });
    expect(named(spans(), "POST /scan/prompt").traceId).not.toBe(TRACE);
  });

  it("end when a client disconnects", async () => {
    const { url: endpoint, spans } = await collector();
    const { scanner, started, aborted } = waitingScanner();
    const { url, close } = await startServer({
      config: traced(endpoint),
      scanners: { input: [scanner] },
      port: 0,
      logger: { write() {} },
    });
    onTestFinished(() => close());
    const client = new AbortController();
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ prompt: "x" });
    const sent = fetch(`${url}/scan/prompt`, { method: "POST", headers, body, signal: client.signal });
    await started;
    client.abort();
    await expect(sent).rejects.toThrow();
    await aborted;
    await close();
    expect(named(spans(), "POST /scan/prompt").attributes).toMatchObject({ "error.type": "client_closed" });
    expect(named(spans(), "scanner Waiting").attributes).toMatchObject({ "error.type": "GUARD_ABORTED" });
  });

  it("of two servers are separate", async () => {
    const collectors = [await collector(), await collector()] as const;
    for (const [index, { url }] of collectors.entries()) {
      const config = { ...traced(url), app: { name: `server ${index}` } };
      const { app, post } = await testServer({ input: [wordScanner("x", { name: `Word ${index}` })] }, config);
      await post("/scan/prompt", { prompt: "x" });
      await app.close();
    }
    for (const [index, { spans, resources }] of collectors.entries()) {
      expect(spans().map(({ name }) => name)).toEqual([`scanner Word ${index}`, "POST /scan/prompt"]);
      expect(resources().map((resource) => resource["service.name"])).toEqual([`server ${index}`]);
    }
  });

  it("go to OTEL_EXPORTER_OTLP_ENDPOINT, with the name and attributes of the environment", async () => {
    const { url, spans, resources } = await collector();
    withVariables({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/behind/a/proxy`,
      OTEL_SERVICE_NAME: "checkout",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    });
    const { app, post } = await testServer({}, { tracing: { exporter: "otel_http", endpoint: "" } });
    await post("/scan/prompt", { prompt: "x" });
    await app.close();
    expect(named(spans(), "POST /scan/prompt").kind).toBe(2);
    expect(resources()[0]).toMatchObject({ "service.name": "checkout", "deployment.environment.name": "test" });
  });

  it("can be turned off by the environment", async () => {
    withVariables({ OTEL_SDK_DISABLED: "true" });
    const { url, requests } = await collector();
    const { app, post } = await testServer({}, traced(url));
    expect((await post("/scan/prompt", { prompt: "x" })).statusCode).toBe(200);
    await app.close();
    expect(requests).toEqual([]);
  });

  it("go to the endpoint itself if it has a path", async () => {
    const { url, requests } = await collector();
    const { app, post } = await testServer({}, traced(`${url}/tenant/v1/traces?key=1`));
    await post("/scan/prompt", { prompt: "x" });
    await app.close();
    expect(requests.map(({ path }) => path)).toEqual(["/tenant/v1/traces?key=1"]);
  });

  it("of xray have ids that begin with the time, and continue traces of AWS", async () => {
    const { url, spans } = await collector();
    const { app, post } = await testServer({}, traced(url, "xray"));
    const before = Math.floor(Date.now() / 1000);
    await post("/scan/prompt", { prompt: "x" });
    const root = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
    await post("/scan/prompt", { prompt: "x" }, { "x-amzn-trace-id": root, traceparent });
    await post("/scan/prompt", { prompt: "x" }, { traceparent });
    await app.close();
    const [own, ofAws, ofW3c] = spans() as [ReceivedSpan, ReceivedSpan, ReceivedSpan];
    const seconds = Number.parseInt(own.traceId.slice(0, 8), 16);
    expect(seconds).toBeGreaterThanOrEqual(before);
    expect(seconds).toBeLessThanOrEqual(Date.now() / 1000);
    expect(ofAws).toMatchObject({ traceId: "5759e988bd862e3fe1be46a994272793", parentSpanId: "53995c3f42cd8ad8" });
    expect(ofW3c).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
  });

  it("of console are lines of the log", async () => {
    const { post, log } = await testServer({ input: [wordScanner("CANARY")] }, { tracing: { exporter: "console" } });
    await post("/scan/prompt", { prompt: "a CANARY" }, { traceparent });
    const lines = () => log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "span");
    await expect.poll(lines).toHaveLength(2);
    expect(lines().map(({ span }) => span)).toMatchObject([
      { name: "scanner Word", trace_id: TRACE, attributes: { "guard.scanner.valid": false } },
      { name: "POST /scan/prompt", trace_id: TRACE, parent_span_id: PARENT },
    ]);
    expect(log.join("")).not.toContain("CANARY");
  });
});

describe("metrics", () => {
  it("are those of GET /metrics, under the same names", async () => {
    const { url, metrics, requests, bytes } = await collector();
    const { app, get, post } = await testServer(
      { input: [wordScanner("CANARY")] },
      { metrics: { exporter: "otel_http", endpoint: url } },
    );
    for (const prompt of ["a CANARY", "a bird", "a dog"]) await post("/scan/prompt", { prompt });
    expect((await get("/metrics")).statusCode).toBe(404);
    await app.close();
    expect(requests.map(({ path }) => path)).toEqual(["/v1/metrics"]);
    const metric = (name: string) => metrics().find((known) => known.name === name);
    expect(metric("guard_scanner_verdicts_total")).toEqual({
      ...{ name: "guard_scanner_verdicts_total", unit: "", kind: "sum", isMonotonic: true },
      points: [
        { attributes: { source: "input", scanner: "Word", valid: "false" }, value: 1 },
        { attributes: { source: "input", scanner: "Word", valid: "true" }, value: 2 },
      ],
    });
    expect(metric("guard_scans_running")).toMatchObject({ kind: "gauge", points: [{ attributes: {}, value: 0 }] });
    const seconds = metric("guard_http_request_duration_seconds");
    expect(seconds).toMatchObject({ kind: "histogram", unit: "s" });
    const scans = seconds?.points.find(({ attributes }) => attributes.route === "/scan/prompt");
    expect(scans).toMatchObject({ count: 3 });
    expect(scans?.counts?.reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(scans?.counts).toHaveLength((scans?.bounds?.length ?? 0) + 1);
    expect(bytes().includes("CANARY")).toBe(false);
  });

  it("are exported at the interval of the environment", async () => {
    withVariables({ OTEL_METRIC_EXPORT_INTERVAL: "50" });
    const { url, requests } = await collector();
    await testServer({}, { metrics: { exporter: "otel_http", endpoint: url } });
    await expect.poll(() => requests.length).toBeGreaterThan(1);
  });

  it("of console are lines of the log", async () => {
    const { app, post, log } = await testServer({ input: [wordScanner("x")] }, { metrics: { exporter: "console" } });
    await post("/scan/prompt", { prompt: "x" });
    await app.close();
    const { metrics } = log.map((line) => JSON.parse(line)).find(({ msg }) => msg === "metrics");
    expect(metrics).toMatchObject({
      guard_http_requests_total: [{ method: "POST", route: "/scan/prompt", status: "200", value: 1 }],
      guard_http_request_duration_seconds: [{ route: "/scan/prompt", count: 1 }],
    });
  });
});

describe("a collector", () => {
  it("that rejects everything is counted and logged once", async () => {
    withVariables({ OTEL_BSP_SCHEDULE_DELAY: "10", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1" });
    const { url, requests } = await collector({ status: 400 });
    const { get, post, log } = await testServer({}, traced(url));
    for (let count = 0; count < 3; count++) await post("/scan/prompt", { prompt: "x" });
    await expect.poll(() => requests.length).toBe(3);
    const lost = 'guard_telemetry_lost_total{signal="traces",reason="export_failed"} 3';
    await expect.poll(async () => (await get("/metrics")).body).toContain(lost);
    const warnings = log
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg.includes("do not reach the collector"));
    expect(warnings).toMatchObject([{ level: 40, signal: "traces", reason: "export_failed", error: "Bad Request" }]);
  });

  it("that never responds delays no request, and is abandoned when the server closes", async () => {
    withVariables({
      OTEL_BSP_MAX_QUEUE_SIZE: "4",
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2",
      OTEL_EXPORTER_OTLP_TIMEOUT: "500",
    });
    const { url } = await collector("never");
    const { app, get, post, log } = await testServer({}, traced(url));
    const replies = await Promise.all(Array.from({ length: 20 }, () => post("/scan/prompt", { prompt: "x" })));
    expect(replies.map(({ statusCode }) => statusCode)).toEqual(replies.map(() => 200));
    // Two batches are being sent and four wait. There is no room for the others.
    expect((await get("/metrics")).body).toMatch(/guard_telemetry_lost_total{signal="traces",reason="queue_full"} \d+/);
    await app.close();
    expect(log.join("")).toContain('"reason":"export_failed"');
  });
});
