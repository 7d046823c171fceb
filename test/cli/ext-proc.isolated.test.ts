import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startCliServer } from "../support/cli-server.ts";
import { ExtProcClient, refusalOf } from "../support/ext-proc-client.ts";

const run = (...args: string[]) => startCliServer("ext-proc", args);

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
