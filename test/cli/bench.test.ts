import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { benchTable, measureLists, measureServer } from "../../src/cli/bench-rows.ts";
import { readTexts } from "../../src/cli/bench-texts.ts";
import { milliseconds, timed } from "../../src/cli/timing.ts";
import { startServer } from "../../src/server/index.ts";

const folder = mkdtempSync(join(tmpdir(), "guard-bench-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const timing = { seconds: 0.01 };
const names: string[] = [];
const onRow = (name: string) => names.push(name);

describe("the texts of guard bench", () => {
  it("are ordinary prompts and outputs where no file is named", async () => {
    const { prompt, output, conversation } = await readTexts(undefined);
    expect(prompt.length).toBeGreaterThan(5);
    expect(output).toHaveLength(prompt.length);
    expect(conversation).toEqual([]);
  });

  it("are the lines of a file, or what its lines of JSON hold", async () => {
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
    await expect(readTexts(file("empty.txt", "\n"))).rejects.toThrow("has no texts");
  });
});

describe("guard bench", () => {
  const config = `
app: { log_level: silent }
auth: { type: http_bearer, token: hush }
input_scanners: [{type: InvisibleText}, {type: TokenLimit}]
output_scanners: [{type: ReadingTime, params: {max_time: 5}}]
`;

  it("measures each scanner, then all of a list", async () => {
    const texts = await readTexts(
      file("c.jsonl", '"one"\n{"prompt": "p", "output": "o"}\n{"messages": [{"role": "user", "content": "x"}]}\n'),
    );
    const rows = await measureLists(file("scanners.yml", config), texts, timing, onRow);
    expect(rows.map(({ texts, name }) => `${texts} ${name}`)).toEqual([
      ...["prompt InvisibleText", "prompt TokenLimit", "prompt all scanners"],
      ...["output ReadingTime", "output all scanners", "conversation all scanners"],
    ]);
    for (const { calls, perSecond, p50, p95, p99 } of rows) {
      expect(calls).toBeGreaterThan(0);
      expect(perSecond).toBeGreaterThan(0);
      expect([...[p99, p95, p50]].sort((a, b) => a - b)).toEqual([p50, p95, p99]);
    }
    expect(names).toContain("TokenLimit");
    expect(benchTable(rows).split("\n")[2]).toMatch(/^prompts {8}TokenLimit( +<?[\d.]+){5}$/);
  });

  it("says when nothing of a file can be measured", async () => {
    const texts = await readTexts(file("d.txt", "one\n"));
    const path = file("outputs.yml", "output_scanners: [{type: ReadingTime, params: {max_time: 5}}]");
    await expect(measureLists(path, texts, timing, onRow)).rejects.toThrow("has no scanners for these texts");
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
    const texts = await readTexts(file("e.txt", "one\n"));
    const rows = await measureServer(`${server.url}/`, ["Authorization: Bearer hush"], texts, timing, onRow);
    expect(rows).toMatchObject([{ texts: "prompt", name: "/analyze/prompt", calls: expect.any(Number) }]);
    const bad = (url: string, ...header: string[]) => measureServer(url, header, texts, timing, onRow);
    await expect(bad(server.url)).rejects.toThrow(/\/analyze\/prompt answered with status 401: /);
    await expect(bad("localhost:8000")).rejects.toThrow("--url: expected an address such as http://127.0.0.1:8000");
    await expect(bad(server.url, "Bearer hush")).rejects.toThrow(/^--header: expected NAME: VALUE$/);
    await expect(bad("http://127.0.0.1:1")).rejects.toThrow("does not answer");
  });
});

describe("timed", () => {
  it("does not count the first call, and makes as many at a time as asked", async () => {
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
      { seconds: 1e-6, concurrency: 3, least: 6 },
    );
    expect(counted).toBeGreaterThanOrEqual(6);
    expect(calls).toHaveLength(counted + 1);
    expect(calls).toEqual(calls.map((_, index) => index));
    expect(most).toBe(3);
  });

  it("writes milliseconds with about three digits", () => {
    expect([0.0001, 0.0123, 3.456, 34.56, 345.6].map(milliseconds)).toEqual(["<0.001", "0.012", "3.46", "34.6", "346"]);
  });
});
