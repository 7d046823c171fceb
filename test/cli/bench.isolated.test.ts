import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { measureBench } from "../../src/cli/bench/run.ts";
import { benchText } from "../../src/cli/bench/tables.ts";
import { numberedSubject, readTexts } from "../../src/cli/bench/texts.ts";
import { formatMilliseconds, timed } from "../../src/cli/bench/timing.ts";
import { bench } from "../../src/cli/bench.ts";
import { startServer } from "../../src/server/index.ts";

const folder = mkdtempSync(join(tmpdir(), "guard-bench-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const names: string[] = [];
const options = { seconds: 0.01, concurrency: [1, 4], rest: 0, onRow: (name: string) => void names.push(name) };

describe("the texts of guard-scan bench", () => {
  it("are ordinary prompts and outputs without a file", async () => {
    const { prompt, output, conversation } = await readTexts(undefined);
    expect(prompt.length).toBeGreaterThan(5);
    expect(output).toHaveLength(prompt.length);
    expect(conversation).toEqual([]);
  });

  it("are the lines of a file, or the fields of its JSON lines", async () => {
    expect(await readTexts(file("a.txt", "one\r\n\n[two]\n"))).toEqual({
      prompt: [
        { kind: "prompt", text: "one" },
        { kind: "prompt", text: "[two]" },
      ],
      output: [],
      conversation: [],
    });
    const texts = await readTexts(file("a.jsonl", '"one"\n{"prompt": "p", "output": "o"}\n{"messages": []}\n'));
    expect([texts.prompt, texts.output, texts.conversation].map(({ length }) => length)).toEqual([1, 1, 1]);
    await expect(readTexts(file("b.jsonl", '"one"\n\n{}\n'))).rejects.toThrow(/b\.jsonl, line 3: expected text/);
    const csv = await readTexts(file("a.csv", 'prompt,output\n"one, two",\np,o\n'));
    expect([csv.prompt, csv.output]).toEqual([
      [{ kind: "prompt", text: "one, two" }],
      [{ kind: "output", prompt: "p", text: "o" }],
    ]);
    await expect(readTexts(file("empty.txt", "\n"))).rejects.toThrow("has no rows");
  });
});

it("no text of a measurement occurs twice", () => {
  const subjects = [{ kind: "prompt", text: "one" } as const, { kind: "prompt", text: "two" } as const];
  const texts = Array.from({ length: 6 }, (_, index) => numberedSubject(subjects, index).text);
  expect(new Set(texts).size).toBe(6);
  expect(texts.map((text) => text.split(". ")[1])).toEqual(["one", "two", "one", "two", "one", "two"]);
});

describe("guard-scan bench", () => {
  const config = `
app: { log_level: silent }
auth: { type: http_bearer, token: hush }
input_scanners: [{type: InvisibleText}, {type: TokenLimit}]
output_scanners: [{type: ReadingTime, params: {max_time: 5}}]
`;

  it("measures each scanner, the whole list, and memory", async () => {
    const subject = file("scanners <b>.yml", config);
    const texts = file(
      "c.jsonl",
      '"my secret words"\n{"prompt": "p", "output": "o"}\n{"messages": [{"role": "user", "content": "x"}]}\n',
    );
    const report = await measureBench({ subject, texts }, options);
    expect(report.clocks.map(({ texts, name }) => `${texts} ${name}`)).toEqual([
      ...["prompt InvisibleText", "prompt TokenLimit", "prompt all scanners"],
      ...["output ReadingTime", "output all scanners", "conversation all scanners"],
    ]);
    for (const { calls, wall, cpu, engine } of report.clocks) {
      expect(calls).toBeGreaterThan(0);
      expect(wall.p95).toBeGreaterThanOrEqual(wall.p50);
      expect(cpu?.p50).toBeGreaterThanOrEqual(0);
      expect(engine).toBeUndefined();
    }
    expect(report.throughput.map(({ texts, concurrency }) => `${texts} ${concurrency}`)).toEqual([
      ...["prompt 1", "prompt 4", "output 1", "output 4", "conversation 1", "conversation 4"],
    ]);
    for (const { calls, perSecond, p50, p95, p99 } of report.throughput) {
      expect(calls).toBeGreaterThan(0);
      expect(perSecond).toBeGreaterThan(0);
      expect([...[p99, p95, p50]].sort((a, b) => a - b)).toEqual([p50, p95, p99]);
    }
    expect(report.memory?.peak).toBeGreaterThanOrEqual(report.memory?.loaded ?? 0);
    expect(report.texts).toEqual([
      { texts: "prompt", count: 1, characters: 15 },
      { texts: "output", count: 1, characters: 1 },
      { texts: "conversation", count: 1 },
    ]);
    expect(names).toContain("TokenLimit");

    expect(JSON.stringify(report)).not.toContain("secret words");
    expect(benchText(report)).toMatch(/^prompts {8}TokenLimit( +<?[\d.]+){4}( +-){5} +\d+$/m);
  });

  it("measures the time of models", async () => {
    const subject = file("model.yml", "input_scanners: [{type: Toxicity}]");
    const { clocks } = await measureBench({ subject, texts: file("m.txt", "How do I bake bread?\n") }, options);
    for (const { engine } of clocks) {
      expect(engine?.p95).toBeGreaterThanOrEqual(engine?.p50 as number);
      expect(engine).toMatchObject({ queued: expect.any(Number), tokenized: expect.any(Number) });
      expect(engine?.inferred).toBeGreaterThan(0);
    }
  });

  it("writes the figures, and reports errors before it measures", async () => {
    const own = file("cli.yml", "input_scanners: [{type: InvisibleText}]");
    const json = join(folder, "out.json");
    const quick = ["--texts", file("cli.txt", "one\n"), "--seconds", "0.01", "--rest", "0"];
    const printed = vi.spyOn(process.stdout, "write").mockImplementation((...args: unknown[]) => {
      const done = args.at(-1);
      if (typeof done === "function") done();
      return true;
    });
    onTestFinished(() => printed.mockRestore());
    expect(await bench.run([own, ...quick, "--concurrency", "2,1", "--json", json])).toBe(0);
    expect(String(printed.mock.calls[0]?.[0])).toContain("SCANS/S");
    const { throughput } = JSON.parse(readFileSync(json, "utf8"));
    expect(throughput.map(({ concurrency }: { concurrency: number }) => concurrency)).toEqual([1, 2]);

    const bad = (...args: string[]) => expect(bench.run([own, ...quick, ...args])).rejects;
    await bad("--concurrency", "1,0").toThrow(
      "--concurrency: expected different whole numbers from 1 to 1024, such as 1,8,32, got 1,0",
    );
    await bad("--concurrency", "2,2").toThrow("different whole numbers");
    await bad("--seconds", "0").toThrow("--seconds: expected a number above 0 and up to 3600, got 0");
    await bad("--rest", "x").toThrow("--rest: expected a number from 0 and up to 3600, got x");
    await bad("--json", join(folder, "none", "a.json")).toThrow(/^--json: there is no folder/);
    await bad("--json", folder).toThrow("is a folder");
    await bad("--texts", join(folder, "none.txt")).toThrow(/^--texts: there is no file .*none\.txt$/);
  });

  it("reports a file without measurable texts", async () => {
    const texts = file("d.txt", "one\n");
    const subject = file("outputs.yml", "output_scanners: [{type: ReadingTime, params: {max_time: 5}}]");
    await expect(measureBench({ subject, texts }, options)).rejects.toThrow("has no scanners for these texts");
  });

  it("measures a running server", async () => {
    const server = await startServer({
      config: {
        app: { logLevel: "silent" },
        auth: { type: "http_bearer", token: "hush" },
        inputScanners: [{ type: "InvisibleText" }],
      },
      port: 0,
    });
    onTestFinished(() => server.close());
    const texts = file("e.txt", "one\n");
    const of = (subject: string, ...header: string[]) => measureBench({ subject, header, texts }, options);
    const { clocks, throughput, memory } = await of(`${server.url}/`, "Authorization: Bearer hush");
    expect(clocks).toMatchObject([{ texts: "prompt", name: "/analyze/prompt", calls: expect.any(Number) }]);
    expect(clocks[0]?.cpu).toBeUndefined();
    expect(throughput.map(({ concurrency }) => concurrency)).toEqual([1, 4]);
    expect(memory).toBeUndefined();
    await expect(of(server.url)).rejects.toThrow(/\/analyze\/prompt answered with status 401: /);
    await expect(of("localhost:8000")).rejects.toThrow("--url: expected an address such as http://127.0.0.1:8000");
    await expect(of(server.url, "Bearer hush")).rejects.toThrow(/^--header: expected NAME: VALUE$/);
    await expect(of("http://127.0.0.1:1")).rejects.toThrow("does not answer");
  });
});

describe("timed", () => {
  it("ignores the first call, and makes the requested number of concurrent calls", async () => {
    let running = 0;
    let most = 0;
    const calls: number[] = [];
    const { calls: counted } = await timed(
      async (index) => {
        calls.push(index);
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      },
      { seconds: 1e-6, concurrency: 3, minCalls: 6 },
    );
    expect(counted).toBeGreaterThanOrEqual(6);
    expect(calls).toHaveLength(counted + 1);
    expect(calls).toEqual(calls.map((_, index) => index));
    expect(most).toBe(3);
  });

  it("writes milliseconds with about three digits", () => {
    expect([0.0001, 0.0123, 3.456, 34.56, 345.6].map(formatMilliseconds)).toEqual([
      "<0.001",
      "0.012",
      "3.46",
      "34.6",
      "346",
    ]);
  });
});
