import { describe, expect, it } from "vitest";
import { startCliServer } from "../support/cli-server.ts";

const run = (...args: string[]) => startCliServer("ext-mcp", args);

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
