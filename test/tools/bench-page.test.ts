import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { BenchReport } from "../../src/cli/bench/report.ts";
import { benchPage } from "../../tools/bench-page.ts";

const folder = mkdtempSync(join(tmpdir(), "guard-bench-page-"));
afterAll(() => rmSync(folder, { recursive: true }));

const report: BenchReport = {
  guard: "1.2.3",
  date: "2026-01-01T00:00:00.000Z",
  machine: { system: "linux x64", processors: 2, node: "v20.19.0" },
  subject: "scanners <b>.yml",
  seconds: 1,
  texts: [
    { texts: "prompt", count: 1, characters: 15 },
    { texts: "conversation", count: 2 },
  ],
  clocks: [
    { texts: "prompt", name: "TokenLimit", calls: 3, wall: { p50: 0.1, p95: 0.2 }, cpu: { p50: 0.1, p95: 0.2 } },
    { texts: "conversation", name: "all scanners", calls: 3, wall: { p50: 0, p95: 0 } },
  ],
  throughput: [
    { texts: "prompt", name: "all scanners", concurrency: 1, calls: 3, perSecond: 900, p50: 0.1, p95: 0.2, p99: 0.3 },
    { texts: "prompt", name: "all scanners", concurrency: 4, calls: 3, perSecond: 990, p50: 0.4, p95: 0.5, p99: 0.6 },
  ],
  memory: { before: 1e8, loaded: 2e8, peak: 3e8, rested: 2e8 },
};

it("draws a page of a report without external resources", async () => {
  const [json, html] = [join(folder, "bench.json"), join(folder, "bench.html")];
  writeFileSync(json, JSON.stringify(report));
  expect(await benchPage.run([json, html])).toBe(0);
  const page = readFileSync(html, "utf8");
  expect(page).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
  expect(page).toContain("scanners &lt;b&gt;.yml</h1>");
  expect(page).toContain("<td>TokenLimit</td>");
  expect(page).toContain("1 prompt (15 characters), 2 conversations");
  expect(page).toContain("prefers-color-scheme: dark");
  expect(page).not.toMatch(/<script|<link|src=|href=|NaN|undefined/);
});

it("rejects a command line without both files", async () => {
  await expect(benchPage.run(["bench.json"])).rejects.toThrow("expected two files: REPORT.json PAGE.html");
});
