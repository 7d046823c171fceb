import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { checkChain } from "../../../src/audit/chain.ts";

const cli = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guard-workers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A line of the log. */
interface Line {
  msg: string;
  pid: number;
  url?: string;
  code?: number;
}

/** Starts a server with two processes, and returns its log. */
function serve(config: string) {
  const file = join(folder, "scanners.yml");
  writeFileSync(file, config);
  const child = spawn(process.execPath, [cli, "serve", file, "--port", "0", "--workers", "2"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, GUARD_ONNX_THREADS: "2" },
  });
  // The workers exit with the supervisor.
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: Line[] = [];
  let rest = "";
  child.stdout.on("data", (chunk) => {
    const whole = `${rest}${chunk}`.split("\n");
    rest = whole.pop() ?? "";
    lines.push(...whole.map((line) => JSON.parse(line)));
  });
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  const said = (message: string, times = 1) =>
    expect.poll(() => lines.filter(({ msg }) => msg === message).length, { timeout: 30_000 }).toBe(times);
  return { child, file, lines, code, said };
}

/** Sends a request on a new connection, so that the processes take turns. */
function ask(url: string, path: string, { token, body }: { token?: string; body?: unknown } = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = {
      connection: "close",
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const sent = request(`${url}${path}`, { method: body === undefined ? "GET" : "POST", headers }, (reply) => {
      let text = "";
      reply.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      reply.on("end", () => resolve({ status: reply.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const config = (word: string) => `
app: { log_level: info }
auth:
  - { type: http_bearer, name: chat, token: chat-token, may_administer: true }
rate_limit: { enabled: true, limit: 30/hour, failures: 4/hour, key: credential }
metrics: { public: true }
audit: { to: file, file: ${join(folder, "audit.jsonl")} }
input_scanners:
  - type: BanSubstrings
    params: { substrings: [${word}], redact: true }
`;

// Windows has no signals that a process can handle.
describe.skipIf(process.platform === "win32")("guard serve --workers", () => {
  it("shares limits, metrics, the audit log and reloads, and restarts a process that exits", async () => {
    const { child, file, lines, code, said } = serve(config("zebra"));
    await said("all processes are ready");
    const url = lines.find((line) => line.msg === "serving")?.url as string;
    let requests = 0;
    const scan = async () => {
      requests += 1;
      const { status, text } = await ask(url, "/analyze/prompt", {
        token: "chat-token",
        body: { prompt: "zebra, lion" },
      });
      return status === 200 ? (JSON.parse(text).sanitized_prompt as string) : status;
    };
    const metric = async (name: string) => {
      const { text } = await ask(url, "/metrics");
      return Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${name} `))
          ?.split(" ")[1],
      );
    };
    const reload = async () => {
      requests += 1;
      return ask(url, "/admin/reload", { token: "chat-token", body: {} });
    };
    const verdicts = 'guard_scanner_verdicts_total{source="input",scanner="BanSubstrings",valid="false"}';

    // Both processes answer. Each line of the log was parsed, so none is torn.
    expect(await Promise.all([scan(), scan(), scan(), scan()])).toEqual(Array(4).fill("[REDACTED], lion"));
    await said("request", 4);
    const pids = new Set(lines.filter(({ msg }) => msg === "request").map(({ pid }) => pid));
    expect(pids.size).toBe(2);
    expect(pids).not.toContain(child.pid);
    expect(await metric(verdicts)).toBe(4);
    const traffic = JSON.parse((await ask(url, "/admin/traffic", { token: "chat-token" })).text);
    requests += 1;
    expect(traffic.scanners.input.BanSubstrings.failed).toBe(4);
    expect(traffic.decisions).toHaveLength(4);

    // An invalid file changes no process. After a valid one, every process serves it before the reload is answered.
    writeFileSync(file, config("zebra").replace("BanSubstrings", "BanSubstring"));
    expect((await reload()).status).toBe(422);
    expect(await Promise.all([scan(), scan()])).toEqual(Array(2).fill("[REDACTED], lion"));
    writeFileSync(file, config("lion"));
    expect((await reload()).status).toBe(200);
    expect(await Promise.all([scan(), scan()])).toEqual(Array(2).fill("zebra, [REDACTED]"));
    expect(await metric('guard_reloads_total{result="success"}')).toBe(1);
    expect(await metric('guard_reloads_total{result="failure"}')).toBe(1);
    expect(await metric(verdicts)).toBe(8);

    // A process that exits is restarted with the served configuration, and its counts are kept.
    writeFileSync(file, "nothing that could be served");
    process.kill([...pids][0] as number, "SIGKILL");
    await said("a process of the server has ended, and is restarted");
    expect(await scan()).toBe("zebra, [REDACTED]");
    await said("serving", 3);
    expect(await Promise.all([scan(), scan()])).toEqual(Array(2).fill("zebra, [REDACTED]"));
    expect(await metric(verdicts)).toBe(11);
    expect((await ask(url, "/readyz")).status).toBe(200);

    // Invalid credentials and requests are counted over all processes.
    const wrong = await Promise.all(
      Array.from({ length: 6 }, () => ask(url, "/scan/prompt", { token: "x", body: {} })),
    );
    expect(wrong.map(({ status }) => status).sort()).toEqual([401, 401, 401, 401, 429, 429]);
    const left = 30 - requests;
    const rest = await Promise.all(Array.from({ length: left + 3 }, scan));
    expect(rest.filter((result) => result === 429)).toHaveLength(3);

    child.kill("SIGTERM");
    expect(await code).toBe(0);
    const records = readFileSync(join(folder, "audit.jsonl"), "utf8").trim().split("\n");
    expect(await checkChain(records, undefined)).toMatchObject({ records: 11 + left, faults: [], first: 1 });
  });

  it("shares exceptions at once, also with a process that is restarted", async () => {
    const { child, lines, code, said } = serve(
      "app: { log_level: info }\ninput_scanners:\n  - { type: BanSubstrings, params: { substrings: [zebra] } }\n",
    );
    await said("all processes are ready");
    const url = lines.find((line) => line.msg === "serving")?.url as string;
    const scanTwice = async () => {
      const replies = [1, 2].map(() => ask(url, "/scan/prompt", { body: { prompt: "zebra day" } }));
      return (await Promise.all(replies)).map(({ text }) => JSON.parse(text).is_valid);
    };
    expect(await scanTwice()).toEqual([false, false]);
    const body = { scanners: ["BanSubstrings"], text: "zebra day", reason: "a holiday", expires: "2999-01-01" };
    expect((await ask(url, "/admin/exceptions", { body })).status).toBe(201);
    expect(await scanTwice()).toEqual([true, true]);
    const pids = new Set(lines.filter(({ msg }) => msg === "request").map(({ pid }) => pid));
    expect(pids.size).toBe(2);
    process.kill([...pids][0] as number, "SIGKILL");
    await said("serving", 3);
    expect(await scanTwice()).toEqual([true, true]);
    child.kill("SIGTERM");
    expect(await code).toBe(0);
  });

  it("shares reviews", async () => {
    writeFileSync(join(folder, "unsure.mjs"), "export const unsure = () => 0.7;");
    const scanner = '{ type: PromptInjection, params: { review_threshold: 0.5, classifier: "./unsure.mjs#unsure" } }';
    const { child, lines, code, said } = serve(`app: { log_level: info }\ninput_scanners:\n  - ${scanner}\n`);
    await said("all processes are ready");
    const url = lines.find((line) => line.msg === "serving")?.url as string;
    const scan = async () => JSON.parse((await ask(url, "/scan/prompt", { body: { prompt: "Well." } })).text);
    const ids = new Set((await Promise.all([scan(), scan(), scan()])).map(({ reviews }) => reviews[0].id));
    expect(ids.size).toBe(1);
    const list = async () => JSON.parse((await ask(url, "/reviews", {})).text);
    const lists = await Promise.all([list(), list()]);
    expect(lists.map(({ pending }) => pending)).toEqual([1, 1]);
    const body = { decision: "approve", reason: "a greeting" };
    expect((await ask(url, `/reviews/${[...ids][0]}`, { body })).status).toBe(204);
    expect((await Promise.all([scan(), scan()])).map(({ is_valid }) => is_valid)).toEqual([true, true]);
    child.kill("SIGTERM");
    expect(await code).toBe(0);
  });

  it("exits if processes exit again and again", async () => {
    writeFileSync(
      join(folder, "ending.mjs"),
      `export const Ending = {
        type: "Ending",
        summary: "Ends the process.",
        sides: { input: {} },
        create: () => ({ load: async () => void setTimeout(() => process.exit(7), 200), check: () => ({}) }),
      };`,
    );
    const { code, lines } = serve("input_scanners:\n  - type: ./ending.mjs#Ending\n");
    expect(await code).toBe(2);
    expect(lines.some(({ code }) => code === 7)).toBe(true);
  });
});
