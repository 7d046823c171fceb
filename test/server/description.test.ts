import { describe, expect, it } from "vitest";
import { testServer, waitingScanner, wordScanner } from "./fixtures.ts";

interface Operation {
  operationId: string;
  requestBody?: { content: Record<string, { schema: Record<string, unknown> }> };
  responses: Record<string, { content?: Record<string, { schema: Record<string, unknown> }> }>;
}

describe("the API's description", () => {
  it("is OpenAPI 3.1 and has a schema for everything", async () => {
    const { get } = await testServer({}, { auth: [{ type: "http_bearer", token: "x" }] });
    const document = (await get("/openapi.json")).json();
    expect(document.openapi).toBe("3.1.0");
    expect(document.components.securitySchemes).toEqual({ http_bearer: { type: "http", scheme: "bearer" } });
    expect(Object.keys(document.paths).sort()).toEqual([
      "/",
      "/analyze/conversation",
      "/analyze/output",
      "/analyze/prompt",
      "/analyze/scan",
      "/healthz",
      "/metrics",
      "/readyz",
      "/scan/conversation",
      "/scan/output",
      "/scan/prompt",
    ]);
    const ids = new Set<string>();
    for (const [path, methods] of Object.entries<Record<string, Operation>>(document.paths)) {
      for (const [method, { operationId, requestBody, responses }] of Object.entries(methods)) {
        ids.add(operationId);
        expect(Object.keys(responses), path).toContain("200");
        for (const { content } of Object.values(responses)) {
          for (const { schema } of Object.values(content ?? {})) expect(schema, path).toBeTruthy();
        }
        if (method !== "post") continue;
        expect(requestBody?.content["application/json"]?.schema.properties, path).toBeTruthy();
        for (const status of ["400", "401", "413", "415", "422", "429", "500", "503", "504"]) {
          expect(responses[status]?.content, `${path} ${status}`).toHaveProperty(["application/problem+json"]);
        }
      }
    }
    expect(ids.size).toBe(11);
    // Every reference leads somewhere: there are none.
    expect(JSON.stringify(document)).not.toContain('"$ref"');
  });

  it("names every kind of credential", async () => {
    const key = (header: string) => ({ type: "api_key", header, keys: ["x"] });
    const token = (token: string) => ({ type: "http_bearer", token });
    const { get } = await testServer(
      {},
      { auth: [key("X-One"), token("a"), key("X-Two"), token("b"), key("X-Three")] },
    );
    const { components, security } = (await get("/openapi.json")).json();
    expect(components.securitySchemes).toEqual({
      api_key: { type: "apiKey", in: "header", name: "X-One" },
      http_bearer: { type: "http", scheme: "bearer" },
      api_key_2: { type: "apiKey", in: "header", name: "X-Two" },
      api_key_3: { type: "apiKey", in: "header", name: "X-Three" },
    });
    expect(security).toEqual([{ api_key: [] }, { http_bearer: [] }, { api_key_2: [] }, { api_key_3: [] }]);
  });

  it("is shown by a page without anything from elsewhere", async () => {
    const { get } = await testServer();
    const page = await get("/docs/");
    expect(page.statusCode).toBe(200);
    expect(page.body).not.toMatch(/(src|href)="https?:/);
    expect(page.headers["content-security-policy"]).toMatch(/^(?!.*upgrade-insecure-requests).*default-src 'self'/);
    const script = "/docs/static/swagger-ui-bundle.js";
    expect((await get(script)).statusCode).toBe(200);
    expect((await get(script, { range: "bytes=99999999-" })).statusCode).toBe(416);
    expect((await get(script, { "if-match": '"another"' })).statusCode).toBe(412);
  });
});

describe("metrics", () => {
  it("count requests, verdicts and what was not scanned", async () => {
    const { get, post } = await testServer({ input: [wordScanner("x")], output: [wordScanner("x")] });
    await post("/scan/prompt", { prompt: "x" });
    await post("/scan/prompt", { prompt: "x", scanners_suppress: ["Word"] });
    await post("/scan/output", { prompt: "y", output: "y" });
    await post("/CANARY", {});
    const { body, headers } = await get("/metrics");
    expect(headers["content-type"]).toContain("text/plain");
    expect(body).toContain('guard_http_requests_total{method="POST",route="/scan/prompt",status="200"} 2');
    expect(body).toContain('guard_http_requests_total{method="none",route="none",status="404"} 1');
    expect(body).toContain('guard_scanner_verdicts_total{source="input",scanner="Word",valid="false"} 1');
    expect(body).toContain('guard_scanner_verdicts_total{source="output",scanner="Word",valid="true"} 1');
    expect(body).toContain('guard_scanner_duration_seconds_count{source="input",scanner="Word"} 1');
    expect(body).toContain('guard_unscanned_total{reason="suppressed"} 1');
    expect(body).toContain("guard_scans_running 0");
    expect(body).not.toContain("CANARY");
  });

  it("tell how many scans run", async () => {
    const { scanner, started, release } = waitingScanner();
    const { get, post } = await testServer({ input: [scanner] });
    const scan = post("/scan/prompt", { prompt: "x" });
    await started;
    expect((await get("/metrics")).body).toContain("guard_scans_running 1");
    release();
    await scan;
  });

  it("can be turned off", async () => {
    expect((await (await testServer({}, { metrics: { exporter: "none" } })).get("/metrics")).statusCode).toBe(404);
    const server = await testServer({}, { metrics: { exporter: "console" } });
    expect((await server.get("/metrics")).statusCode).toBe(404);
    expect(server.log.join("")).toContain("metrics.exporter: console has no effect");
  });
});
