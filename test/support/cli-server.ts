import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/**
 * Starts a command of `guard-scan` that serves until it is stopped. It is killed when the test ends.
 *
 * @returns the process, its log by line, what it wrote to standard error, and its exit code.
 */
export function startCliServer(command: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [cli, command, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
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
