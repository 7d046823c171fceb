import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { ExtProcClient, refusalOf } from "../support/ext-proc-client.ts";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

function run(...args: string[]) {
  const child = spawn(process.execPath, [cli, "ext-proc", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const log: Record<string, unknown>[] = [];
  createInterface(child.stdout).on("line", (line) => log.push(JSON.parse(line)));
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, code, log, stderr: () => stderr };
}

describe("guard-scan ext-proc", () => {
  it("checks calls with the scanners of a file, and exits on SIGTERM", async () => {
    const folder = mkdtempSync(join(tmpdir(), "guard-ext-proc-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "scanners.yml");
    writeFileSync(file, "input_scanners: [{ type: BanSubstrings, params: { substrings: [forbidden] } }]\n");
    const { child, code, log } = run("--config", file, "--port", "0", "--http-port", "0");
    const started = () => log.find(({ msg }) => msg === "guarding");
    await expect.poll(started, { timeout: 30_000 }).toBeDefined();
    const { grpc, url } = started() as { grpc: string; url: string };
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const stream = new ExtProcClient(Number(grpc.split(":")[1])).open("BUFFERED").requestHeaders();
    await stream.next();
    stream.requestBody({ model: "m", messages: [{ role: "user", content: "This is forbidden." }] });
    expect(refusalOf(await stream.next())).toMatchObject({
      status: 400,
      body: { error: { type: "invalid_request_error" } },
    });
    expect(await (await fetch(`${url}/metrics`)).text()).toContain(
      'call="OpenAI chat completions",outcome="blocked"} 1',
    );
    child.kill("SIGTERM");
    expect(await code).toBe(0);
  });

  it.each([
    [["--tls-cert", "cert.pem"], "give --tls-cert and --tls-key together"],
    [["--tls-client-ca", "ca.pem"], "--tls-client-ca needs --tls-cert"],
    [["--port", "70000"], "--port: expected a number from 0 to 65535"],
    [["--guard", "http://127.0.0.1:1", "--config", "x.yml"], "give it or --guard, not both"],
    [["--guard", "http://127.0.0.1:1", "--host", "0.0.0.0"], "other machines could call guard"],
    [["--guard", "http://127.0.0.1:1", "--tls-cert", "no.pem", "--tls-key", "no.pem"], "tls-cert: cannot read no.pem"],
  ])("explains invalid options: %j", async (args, message) => {
    const { code, stderr } = run(...args);
    expect([await code, stderr()]).toEqual([2, expect.stringContaining(message)]);
  });
});
