import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const engine = new URL("../../dist/models/engine.js", import.meta.url).href;
const prelude = `
  import { defaultEngine } from ${JSON.stringify(engine)};
  const model = defaultEngine().model("embedded:prompt-injection");
  const busy = () => Array.from({ length: 200 }, (_, i) => model.classify("please summarize this " + i + " time ".repeat(200), { strategy: "full" }));
`;

/** Runs a program in a new process. */
function run(program: string, env: Record<string, string | undefined> = {}) {
  return new Promise<{ code: number | null; signal: string | null; output: string }>((resolve) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", prelude + program], {
      env: { ...process.env, ...env },
    });
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
    });
    child.stderr.on("data", (data) => {
      output += data;
    });
    child.on("close", (code, signal) => resolve({ code, signal, output }));
  });
}

describe("a process ends cleanly", () => {
  it.each([
    ["after its work", `console.log((await model.classify("hi", { strategy: "full" })).parts.length);`],
    ["with an open model", `await model.load(); console.log(1);`],
    [
      "by process.exit while busy",
      `await model.load(); busy(); setTimeout(() => { console.log(1); process.exit(0); }, 30);`,
    ],
    [
      "after closing while busy",
      `await model.load(); const calls = busy(); await model.close(); await Promise.allSettled(calls); console.log(1);`,
    ],
    ["by process.exit while loading", `model.load(); setTimeout(() => { console.log(1); process.exit(0); }, 20);`],
    [
      "after work in worker threads",
      `import { Worker } from "node:worker_threads";
       const source = \`import { defaultEngine } from ${JSON.stringify(engine)};
         import { parentPort } from "node:worker_threads";
         const model = defaultEngine().model("embedded:prompt-injection");
         parentPort.postMessage((await model.classify("hello", { strategy: "full" })).parts.length);\`;
       const url = new URL("data:text/javascript," + encodeURIComponent(source));
       for (let round = 0; round < 3; round++) {
         await Promise.all([1, 2].map(() => new Promise((resolve, reject) => {
           const worker = new Worker(url);
           worker.on("error", reject); worker.on("exit", resolve);
         })));
       }
       console.log((await model.classify("hi", { strategy: "full" })).parts.length);`,
    ],
    [
      "after busy worker threads were terminated",
      `import { Worker } from "node:worker_threads";
       const source = \`import { defaultEngine } from ${JSON.stringify(engine)};
         import { parentPort } from "node:worker_threads";
         const model = defaultEngine().model("embedded:prompt-injection");
         await model.load();
         for (let i = 0; i < 200; i++) model.classify("summarize this " + i + " time ".repeat(200), { strategy: "full" });
         parentPort.postMessage("busy");\`;
       const url = new URL("data:text/javascript," + encodeURIComponent(source));
       for (let round = 0; round < 3; round++) {
         const worker = new Worker(url);
         await new Promise((resolve, reject) => { worker.on("message", resolve); worker.on("error", reject); });
         await worker.terminate();
       }
       console.log((await model.classify("hi", { strategy: "full" })).parts.length);`,
    ],
  ])("%s", async (_, program) => {
    const { code, signal, output } = await run(program);
    expect({ code, signal, output: output.trim() }).toEqual({ code: 0, signal: null, output: "1" });
  });
});

describe("the environment", () => {
  const report = `await defaultEngine().info().then(console.log, (error) => console.log(error.code, error.message));`;

  it("names the available providers if an unknown one is requested", async () => {
    const { output } = await run(report, { GUARD_ONNX_PROVIDERS: "tensorrt,cpu" });
    expect(output).toMatch(
      /GUARD_PROVIDER_UNAVAILABLE .*tensorrt is not available; available are: CPUExecutionProvider$/m,
    );
  });

  it("selects providers by full name, and threads", async () => {
    const { output } = await run(report, { GUARD_ONNX_PROVIDERS: "CPUExecutionProvider", GUARD_ONNX_THREADS: "3" });
    expect(output).toMatch(/threads: 3/);
  });

  it("names the path of a missing library", async () => {
    const { output } = await run(report, { GUARD_ONNX_LIBRARY: "/nowhere/libonnxruntime.so" });
    expect(output).toMatch(/GUARD_RUNTIME .*\/nowhere\/libonnxruntime.so.*install the package onnxruntime-node/);
  });

  it("rejects an invalid library without a crash", async () => {
    const { output, code } = await run(report, { GUARD_ONNX_LIBRARY: process.execPath });
    expect(output).toMatch(/GUARD_RUNTIME/);
    expect(code).toBe(0);
  });
});

describe("ONNX Runtime", () => {
  it.runIf(process.platform === "linux")("sends no telemetry", async () => {
    const home = mkdtempSync(join(tmpdir(), "guard-home-"));
    // ONNX Runtime sends no telemetry in test environments, so their variables are removed.
    const ofTests = Object.keys(process.env).filter((name) => /^(?:CI$|ORT_|GITHUB_|XDG_)/.test(name));
    const { output } = await run(`console.log((await model.classify("hi", { strategy: "full" })).parts.length);`, {
      ...Object.fromEntries(ofTests.map((name) => [name, undefined])),
      HOME: home,
      TMPDIR: home,
    });
    const left = readdirSync(home, { recursive: true });
    rmSync(home, { recursive: true });
    expect({ output: output.trim(), left }).toEqual({ output: "1", left: [] });
  });
});
