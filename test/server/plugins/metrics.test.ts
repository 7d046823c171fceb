import { describe, expect, it } from "vitest";
import { testServer, waitingScanner, wordScanner } from "../fixtures.ts";

describe("metrics", () => {
  it("count requests, verdicts and unscanned content", async () => {
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

  it("show the number of running scans", async () => {
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
  });
});
