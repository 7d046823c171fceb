import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type ConfigInput, loadConfig } from "../../../src/config/index.ts";
import { IdleQueue, type IdleTask } from "../../../src/server/shadow/idle-queue.ts";
import { startServer, type TestServer, testServer, wordScanner } from "../fixtures.ts";

const folder = mkdtempSync(join(tmpdir(), "guard-shadow-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const banning = (...words: string[]) =>
  `{ type: BanSubstrings, name: Word, params: { substrings: [${words.join(", ")}] } }`;

/** A scanner that does not return before `globalThis.openGate()` is called. */
file(
  "gate.mjs",
  `export const Gate = {
    type: "Gate",
    summary: "Waits.",
    sides: { input: {} },
    create: () => ({
      async check(text) {
        globalThis.gateTexts.push(text);
        await globalThis.gate;
        if (globalThis.gateFails) throw new Error("the text was " + text);
        const coverage = { chars: text.length, scannedChars: text.length, truncated: false, windows: 1 };
        return { isValid: false, score: 1, findings: [], coverage };
      },
    }),
  };`,
);

function gated(): { texts: string[]; open(): void; fail(): void } {
  let open = () => {};
  const texts: string[] = [];
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  Object.assign(globalThis, { gate, gateTexts: texts, gateFails: false });
  return { texts, open, fail: () => Object.assign(globalThis, { gateFails: true }) };
}

type Summary = Record<string, unknown> & {
  scans: Record<string, number>;
  scanners: Record<string, Record<string, unknown>>;
};

const summary = async ({ get }: TestServer, headers = {}): Promise<Summary> =>
  (await get("/admin/shadow", headers)).json();

/** Waits until the shadow has run or dropped so many scans. */
const dealtWith = (server: TestServer, count: number, headers = {}) =>
  vi.waitFor(async () => {
    const told = await summary(server, headers);
    expect(Object.values(told.scans).reduce((sum, one) => sum + one)).toBe(count);
    return told;
  });

async function shadowed(yaml: string, config: ConfigInput = {}, scanners = {}): Promise<TestServer> {
  const server = await testServer(
    { input: [wordScanner("zebra")], output: [wordScanner("zebra")], ...scanners },
    { ...config, shadow: { share: 1, ...(config.shadow as object), file: file("shadow.yml", yaml) } },
  );
  await vi.waitFor(async () => expect((await summary(server)).state ?? "running").toBe("running"));
  return server;
}

describe("a shadow configuration", () => {
  it("counts differing verdicts exactly, by scanner, without texts", async () => {
    const server = await shadowed(
      `input_scanners: [${banning("horse")}]\noutput_scanners: [${banning("zebra", "cow")}, { type: ReadingTime, params: { max_time: 5 } }]`,
    );
    const { post, get, log } = server;
    for (const prompt of ["a zebra", "a horse", "a zebra on a horse", "a goat"]) await post("/scan/prompt", { prompt });
    await post("/analyze/output", { prompt: "goat?", output: "a cow" });
    await post("/scan/output", { prompt: "goat?", output: "a zebra" });
    await post("/scan/output/stream", { prompt: "goat?", output: ["a goat"] });
    await post("/scan/prompt", {});
    const told = await dealtWith(server, 7);
    expect(told).toMatchObject({
      scans: { same: 3, differs: 3, failed: 0, dropped: 0, not_compared: 1 },
      newly_failing: 2,
      newly_passing: 1,
      waiting: 0,
      share: 1,
    });
    expect(told.scanners.input?.Word).toEqual({
      ...{ both_pass: 1, both_fail: 1, newly_failing: 1, newly_passing: 1, only_main: 0, only_shadow: 0 },
      mean_score_difference: expect.closeTo(0, 9),
    });
    expect(told.scanners.output?.Word).toMatchObject({ newly_failing: 1, both_fail: 1, mean_score_difference: 1 });
    expect(told.scanners.output?.ReadingTime).toMatchObject({ only_shadow: 2, mean_score_difference: null });
    expect(told).not.toHaveProperty("samples");
    const { body } = await get("/metrics");
    for (const line of [
      'guard_shadow_scans_total{result="same"} 3',
      'guard_shadow_scans_total{result="differs"} 3',
      'guard_shadow_scans_total{result="not_compared"} 1',
      'guard_shadow_changes_total{source="input",change="newly_failing"} 1',
      'guard_shadow_changes_total{source="output",change="newly_failing"} 1',
      'guard_shadow_differences_total{source="input",scanner="Word",change="newly_passing"} 1',
    ]) {
      expect(body).toContain(`${line}\n`);
    }
    // The metrics of the requests themselves do not include the shadow.
    expect(body).toContain('guard_scanner_verdicts_total{source="input",scanner="Word",valid="false"} 2\n');
    expect(body + JSON.stringify(told) + log.join("")).not.toMatch(/zebra|horse|goat|cow/);
  });

  it("delays no response, and adds no errors", async () => {
    const gate = gated();
    const server = await shadowed('input_scanners: [{ type: "./gate.mjs#Gate" }]');
    const { post, log } = server;
    expect((await post("/scan/prompt", { prompt: "secret words" })).json()).toMatchObject({ is_valid: true });
    await vi.waitFor(() => expect(gate.texts).toEqual(["secret words"]));
    // The shadow runs one scan at a time by default. The second request is answered anyway.
    expect((await post("/scan/prompt", { prompt: "more words" })).json()).toMatchObject({ is_valid: true });
    expect(await summary(server)).toMatchObject({ waiting: 2, scans: { same: 0, differs: 0 } });
    gate.open();
    expect((await dealtWith(server, 2)).scans).toMatchObject({ differs: 2 });
    gate.fail();
    expect((await post("/scan/prompt", { prompt: "secret words" })).json()).toMatchObject({ is_valid: true });
    expect((await dealtWith(server, 3)).scans).toMatchObject({ differs: 2, failed: 1 });
    expect(log.join("")).toContain("the shadow fails");
    expect(log.join("")).not.toMatch(/words/);
  });

  it("ends with its server, whatever it does", async () => {
    const gate = gated();
    const path = file("shadow.yml", 'input_scanners: [{ type: "./gate.mjs#Gate" }]');
    const server = await startServer({}, { shadow: path });
    await vi.waitFor(async () => expect((await summary(server)).state).toBe("running"));
    await server.post("/scan/prompt", { prompt: "a" });
    await vi.waitFor(() => expect(gate.texts).toEqual(["a"]));
    await server.app.close();
    gate.open();
  });

  it("shows samples if texts may be logged, each to the caller of its request", async () => {
    const auth: ConfigInput["auth"] = { type: "api_key", keys: ["one", "two"], mayAdminister: true };
    const path = file("shadow.yml", `input_scanners: [${banning("horse")}]`);
    const server = await testServer(
      { input: [wordScanner("zebra")] },
      { auth, app: { logContent: true }, shadow: path },
    );
    const [one, two] = [{ "x-api-key": "one" }, { "x-api-key": "two" }];
    expect((await server.get("/admin/shadow")).statusCode).toBe(401);
    await vi.waitFor(async () => expect((await summary(server, one)).state).toBe("running"));
    await server.post("/scan/prompt", { prompt: "a horse" }, one);
    await server.post("/scan/prompt", { prompt: "a goat" }, one);
    await server.post("/scan/prompt", { prompt: `a zebra ${"x".repeat(20_000)}` }, two);
    const told = await dealtWith(server, 3, one);
    expect(told.samples).toEqual([
      {
        ...{ request: expect.any(String), time: expect.any(String), profile: "default", side: "input" },
        main: { is_valid: true, outcome: "passed", scanners: { Word: -1 } },
        shadow: { is_valid: false, outcome: "blocked", scanners: { Word: 1 } },
        content: { prompt: "a horse" },
      },
    ]);
    // A sample of a too long text contains none of it.
    const { samples } = await summary(server, two);
    expect(samples).toMatchObject([{ main: { is_valid: false } }]);
    expect(JSON.stringify(samples)).not.toContain("xxx");
  });

  it("judges a sample of the requests, with the profile of the same name", async () => {
    const profiles = { strict: {}, loose: {} };
    const server = await shadowed(
      `input_scanners: []\noutput_scanners: [${banning("x")}]\nprofiles: { strict: { input_scanners: [${banning("goat")}] } }`,
      { profiles, shadow: { file: "", share: 0.5 }, inputScanners: [] },
    );
    const chance = vi.spyOn(Math, "random");
    onTestFinished(() => chance.mockRestore());
    const ask = async (drawn: number, profile: string) => {
      chance.mockReturnValue(drawn);
      await server.post("/scan/prompt", { prompt: "a goat" }, { "x-guard-profile": profile });
    };
    await ask(0.5, "strict");
    await ask(0.49, "strict");
    await ask(0.49, "loose");
    expect(await dealtWith(server, 2)).toMatchObject({ share: 0.5, scans: { differs: 1, not_compared: 1 } });
  });

  it.each([
    ["a file that is not there", "none.yml", "none.yml: ENOENT"],
    ["a scanner that does not exist", "unknown.yml", "input_scanners.0"],
    ["a shadow of its own", "nested.yml", "a shadow configuration must not have a shadow"],
    ["another limit of windows than the server's", "windows.yml", "windows.yml: app.max_windows: "],
  ])("stops the start with %s", async (_, name, message) => {
    file("unknown.yml", "input_scanners: [{ type: Nonsense }]");
    file("windows.yml", `app: { max_windows: 64 }\ninput_scanners: [${banning("x")}]`);
    file("nested.yml", `input_scanners: [${banning("x")}]\nshadow: unknown.yml`);
    const error = await testServer({}, { shadow: join(folder, name) }).catch((reason) => reason);
    expect(error).toMatchObject({ path: "shadow", message: expect.stringContaining(message) });
  });

  it("is found beside the file that names it, in both spellings", async () => {
    const scanners = `input_scanners: [${banning("x")}]\n`;
    const short = await loadConfig(file("main.yml", `${scanners}shadow: next.yml`), {});
    expect(short.shadow).toEqual({ file: join(folder, "next.yml"), share: 1, maxConcurrent: 1 });
    const long = await loadConfig(file("main.yml", `${scanners}shadow: { file: next.yml, share: "\${S:0.1}" }`), {});
    expect(long.shadow).toEqual({ file: join(folder, "next.yml"), share: 0.1, maxConcurrent: 1 });
    const wrong = loadConfig(file("main.yml", `${scanners}shadow: { file: next.yml, share: 2 }`), {});
    await expect(wrong).rejects.toMatchObject({ path: "shadow.share" });
  });
});

describe("an idle queue", () => {
  function queueOf(limits: { maxRunning?: number; maxTasks?: number; maxChars?: number } = {}) {
    let isBusy = false;
    const queue = new IdleQueue({
      ...{ maxRunning: 1, maxTasks: 3, maxChars: 100, ...limits },
      isIdle: () => !isBusy,
      isBusy: () => isBusy,
      setInterval: () => () => {},
    });
    const told: string[] = [];
    const work = (name: string, chars = 1): IdleTask & { finish(): void } => {
      let finish = () => {};
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      return {
        chars,
        finish,
        onDropped: () => void told.push(`${name} dropped`),
        run: (signal) => {
          told.push(`${name} runs`);
          signal.addEventListener("abort", () => told.push(`${name} aborted`));
          return finished;
        },
      };
    };
    const busy = (now: boolean) => {
      isBusy = now;
    };
    return { queue, told, work, busy };
  }
  const turn = () => new Promise(setImmediate);

  it("runs nothing while the server is busy, and drops running tasks then", async () => {
    const { queue, told, work, busy } = queueOf();
    const [first, second] = [work("first"), work("second")];
    busy(true);
    queue.reserve(first)?.enqueue();
    queue.reserve(second)?.enqueue();
    queue.poll();
    expect(told).toEqual([]);
    busy(false);
    queue.poll();
    expect(told).toEqual(["first runs"]);
    busy(true);
    queue.poll();
    expect(told).toEqual(["first runs", "first dropped", "first aborted"]);
    expect(queue.size).toBe(1);
    first.finish();
    await turn();
    busy(false);
    queue.poll();
    second.finish();
    await turn();
    expect(told.at(-1)).toBe("second runs");
    expect(queue.size).toBe(0);
  });

  it("limits the number of tasks and their characters", () => {
    const { queue, work } = queueOf();
    expect(queue.reserve(work("long", 101))).toBeUndefined();
    const slots = [queue.reserve(work("a", 60)), queue.reserve(work("b", 40))];
    expect(queue.reserve(work("c"))).toBeUndefined();
    expect(slots.every(Boolean)).toBe(true);
    const many = queueOf();
    expect([1, 2, 3, 4].map(() => many.queue.reserve(many.work("x")) !== undefined)).toEqual([true, true, true, false]);
  });

  it("drops all tasks when it closes, and tasks that are enqueued later", () => {
    const { queue, told, work } = queueOf();
    const late = queue.reserve(work("late"));
    queue.reserve(work("first"))?.enqueue();
    queue.reserve(work("second"))?.enqueue();
    queue.poll();
    queue.close();
    late?.enqueue();
    expect(told).toEqual(["first runs", "first dropped", "first aborted", "second dropped", "late dropped"]);
    expect([queue.size, queue.reserve(work("new"))]).toEqual([0, undefined]);
  });
});
