import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const LIMIT = 120;

// The counts come from /proc.
it.runIf(process.platform === "linux")("the log says when file descriptors run out, once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "guard-descriptors-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "scanners.yml");
  writeFileSync(file, "input_scanners:\n  - type: InvisibleText\n");
  const command = `ulimit -n ${LIMIT}; exec "${process.execPath}" "${cli}" serve "${file}" --port 0`;
  const server = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  let log = "";
  server.stdout.on("data", (chunk) => {
    log += chunk;
  });
  await expect.poll(() => log, { timeout: 20_000 }).toMatch(/"msg":"serving"/);
  const [, port] = /"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(log) ?? [];
  for (let count = 0; count < LIMIT; count++) {
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
  }
  await expect.poll(() => log, { timeout: 20_000 }).toMatch(/file descriptors are running out/);
  expect(log.match(/file descriptors are running out/g)).toHaveLength(1);
  expect(log).toMatch(new RegExp(`"limit":${LIMIT}`));
});
