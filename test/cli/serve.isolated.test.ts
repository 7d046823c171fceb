import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { freePort } from "../support/http-server.ts";
import { waitUntilUp } from "../support/wait-until-up.ts";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guard-serve-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(config: string, ...args: string[]) {
  const path = join(folder, "scanners.yml");
  writeFileSync(path, config);
  return run(["--config", path, ...args]);
}

function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [cli, "serve", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdout.resume();
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, code, stderr: () => stderr };
}

const scanners = "input_scanners:\n  - type: BanSubstrings\n    params: { substrings: [zebra], redact: true }\n";

/** A file with all sections and keys of the file of llm-guard's API. */
const LLM_GUARD = `
app:
  name: \${APP_NAME:LLM Guard API}
  log_level: \${LOG_LEVEL:INFO}
  log_json: \${LOG_JSON:true}
  scan_fail_fast: \${SCAN_FAIL_FAST:false}
  scan_prompt_timeout: \${SCAN_PROMPT_TIMEOUT:30}
  scan_output_timeout: \${SCAN_OUTPUT_TIMEOUT:30}
  lazy_load: \${LAZY_LOAD:true}
rate_limit:
  enabled: \${RATE_LIMIT_ENABLED:false}
  limit: \${RATE_LIMIT_LIMIT:100/minute}
auth:
 type: http_bearer
 token: \${AUTH_TOKEN:}
tracing:
  exporter: \${TRACING_EXPORTER:console}
  endpoint: \${TRACING_OTEL_ENDPOINT:}
metrics:
  exporter: \${METRICS_TYPE:prometheus}
  endpoint: \${METRICS_ENDPOINT:}
input_scanners:
  - type: InvisibleText
    params: { }
  - type: Regex
    params: { patterns: ["Bearer [A-Za-z0-9-._~+/]+"], is_blocked: true, match_type: search, redact: true }
  - type: TokenLimit
    params: { limit: 4096, encoding_name: cl100k_base }
  - type: Gibberish
    params: { threshold: 0.97, model_max_length: 256, use_onnx: true, low_cpu_mem_usage: true }
output_scanners:
  - type: ReadingTime
    params: { max_time: 5, truncate: false }
`;

describe("guard-scan serve", () => {
  // Windows terminates a process at once, whatever the signal.
  it.skipIf(process.platform === "win32").each(["SIGTERM", "SIGINT"] as const)("serves until %s", async (signal) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const { child, code } = start(scanners, "--port", String(port));
    await waitUntilUp(`${url}/readyz`, child);
    const reply = await fetch(`${url}/analyze/prompt`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ prompt: "a zebra" }),
    });
    expect(await reply.json()).toEqual({
      sanitized_prompt: "a [REDACTED]",
      is_valid: false,
      scanners: { BanSubstrings: 1 },
    });
    child.kill(signal);
    expect(await code).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it.skipIf(process.platform === "win32")("ends though a scanner never does", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    writeFileSync(
      join(folder, "endless.mjs"),
      `export const Endless = {
        type: "Endless",
        summary: "Never says anything.",
        sides: { input: {} },
        create: () => ({
          check: () => new Promise((resolve) => setTimeout(resolve, 2 ** 30)),
          close: () => new Promise(() => {}),
        }),
      };`,
    );
    const { child, code } = start(
      "app: { scan_prompt_timeout: 1, scan_output_timeout: 1 }\ninput_scanners:\n  - type: ./endless.mjs#Endless\n",
      ...["--port", String(port)],
    );
    await waitUntilUp(`${url}/readyz`, child);
    const reply = await fetch(`${url}/analyze/prompt`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ prompt: "a zebra" }),
    });
    expect(reply.status).toBe(504);
    child.kill("SIGTERM");
    expect(await code).toBe(0);
  });

  it.skipIf(process.platform === "win32")("reloads its file on SIGHUP", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const { child, code } = start(scanners, "--port", String(port));
    await waitUntilUp(`${url}/readyz`, child);
    const prompt = async (text: string) => {
      const headers = { "content-type": "application/json" };
      const reply = await fetch(`${url}/analyze/prompt`, {
        method: "POST",
        headers,
        body: JSON.stringify({ prompt: text }),
      });
      return ((await reply.json()) as { sanitized_prompt: string }).sanitized_prompt;
    };
    const reloads = (line: string) =>
      expect.poll(async () => (await fetch(`${url}/metrics`)).text(), { timeout: 30_000 }).toContain(line);
    const path = join(folder, "scanners.yml");
    writeFileSync(path, scanners.replace("zebra", "lion"));
    child.kill("SIGHUP");
    await reloads('guard_reloads_total{result="success"} 1');
    expect(await prompt("a zebra and a lion")).toBe("a zebra and a [REDACTED]");
    writeFileSync(path, "input_scanners: 7\n");
    child.kill("SIGHUP");
    await reloads('guard_reloads_total{result="failure"} 1');
    expect(await prompt("a zebra and a lion")).toBe("a zebra and a [REDACTED]");
    child.kill("SIGTERM");
    expect(await code).toBe(0);
  });

  it("starts with a file of llm-guard as its only argument, and answers a client of llm-guard", async () => {
    const path = join(folder, "of-llm-guard.yml");
    writeFileSync(path, LLM_GUARD);
    const port = await freePort();
    const { child, code } = run([path, "--port", String(port)], { AUTH_TOKEN: "my-token" });
    const url = `http://127.0.0.1:${port}`;
    await waitUntilUp(`${url}/readyz`, child);
    const reply = await fetch(`${url}/analyze/prompt`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer my-token" },
      body: JSON.stringify({ prompt: "Who is on duty? Authorization: Bearer abc.def" }),
    });
    expect(await reply.json()).toEqual({
      sanitized_prompt: "Who is on duty? Authorization: [REDACTED]",
      is_valid: false,
      scanners: { InvisibleText: -1, Regex: 1, TokenLimit: -1, Gibberish: expect.any(Number) },
    });
    child.kill();
    await code;
  });

  it("rejects a file other than that of CONFIG_FILE", async () => {
    const { code, stderr } = run(["--port", "0"], { CONFIG_FILE: join(folder, "nowhere.yml") });
    expect(await code).toBe(2);
    expect(stderr()).toMatch(/there is no file .*nowhere\.yml, which CONFIG_FILE names/);
  });

  it("reports all errors of its configuration", async () => {
    const { code, stderr } = start(
      `${scanners}app:\n  port: no\n  nme: x\nconversation:\n  risk: { enabled: true, decay: 7 }\n`,
    );
    expect(await code).toBe(2);
    for (const problem of ["app.port: ", "app.nme: unknown key", "conversation.risk.decay: "])
      expect(stderr()).toContain(problem);
    expect(stderr()).toContain("scanners.yml");
    expect(stderr()).not.toMatch(/^\s+at /m);
  });

  it("reports a port that is in use", async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port));
    });
    try {
      const { code, stderr } = start(scanners, "--port", String(port));
      expect(await code).toBe(2);
      expect(stderr()).toContain(String(port));
      expect(stderr()).not.toMatch(/^\s+at /m);
    } finally {
      other.close();
    }
  });
});
