import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

function run(...args: string[]) {
  const child = spawn(process.execPath, [cli, "ext-mcp", ...args], { stdio: ["ignore", "pipe", "pipe"] });
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

describe("guard-scan ext-mcp", () => {
  it("listens with the scanners of mcp.yml, and exits on SIGTERM", async () => {
    const { child, code, log } = run("--port", "0", "--http-port", "0");
    const started = () => log.find(({ msg }) => msg === "guarding");
    await expect.poll(started, { timeout: 30_000 }).toMatchObject({ onFinding: "mask", tls: false });
    expect(log.find(({ msg }) => msg === "scanners")).toMatchObject({
      input: expect.arrayContaining(["ToolDefinitions"]),
    });
    child.kill("SIGTERM");
    expect(await code).toBe(0);
  });

  it.each([
    [["--on-finding", "hide"], "--on-finding: expected mask or block"],
    [["--host", "0.0.0.0"], "other machines could call guard"],
    [["extra"], "unexpected argument extra"],
  ])("explains invalid options: %j", async (args, message) => {
    const { code, stderr } = run(...args);
    expect([await code, stderr()]).toEqual([2, expect.stringContaining(message)]);
  });
});
