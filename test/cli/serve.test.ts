import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "guard-serve-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function start(config: string, ...args: string[]) {
  const path = join(folder, "scanners.yml");
  writeFileSync(path, config);
  const child = spawn(process.execPath, [cli, "serve", "--config", path, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdout.resume();
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, code, stderr: () => stderr };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

async function ready(url: string): Promise<void> {
  for (;;) {
    const reply = await fetch(`${url}/readyz`).catch(() => undefined);
    if (reply?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const scanners = "input_scanners:\n  - type: BanSubstrings\n    params: { substrings: [zebra], redact: true }\n";

describe("guard serve", () => {
  // Windows ends a process at once, whichever signal is sent.
  it.skipIf(process.platform === "win32").each(["SIGTERM", "SIGINT"] as const)("serves until %s", async (signal) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const { child, code } = start(scanners, "--port", String(port));
    await ready(url);
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

  it("says everything that is wrong with its configuration", async () => {
    const { code, stderr } = start(
      `${scanners}app:\n  port: no\n  nme: x\nconversation:\n  risk: { enabled: true, decay: 7 }\n`,
    );
    expect(await code).toBe(2);
    for (const problem of ["app.port: ", "app.nme: unknown key", "conversation.risk.decay: "])
      expect(stderr()).toContain(problem);
    expect(stderr()).toContain("scanners.yml");
    expect(stderr()).not.toMatch(/^\s+at /m);
  });

  it("says so when the port is taken", async () => {
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
