import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "./support/http-server.ts";
import { waitUntilUp } from "./support/wait-until-up.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "examples");
const programs = readdirSync(folder).filter((name) => /\.(mjs|py)$/.test(name));
const token = "a-token-for-the-examples";
let server: ChildProcess;
let url = "";

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const args = [
    join(root, "dist/cli/main.js"),
    "serve",
    "--config",
    join(folder, "scanners.yml"),
    "--port",
    String(port),
  ];
  server = spawn(process.execPath, args, { env: { ...process.env, AUTH_TOKEN: token }, stdio: "inherit" });
  await waitUntilUp(`${url}/readyz`, server);
});

afterAll(async () => {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill();
  await ended;
});

/** The expected output of an example, from the comment at its end. */
function promised(source: string): string {
  const [, comment = ""] = /^(?:\/\/|#) Prints:\n(.*)$/ms.exec(source) ?? [];
  return comment.replace(/^(?:\/\/|#) {3}/gm, "");
}

/** The command that runs Python 3 here. */
const python = process.platform === "win32" ? "python" : "python3";

describe("examples", () => {
  it.each(programs)("%s prints the output in its comment", (name) => {
    const source = readFileSync(join(folder, name), "utf8");
    const env = { ...process.env, AUTH_TOKEN: token, GUARD_URL: url };
    const command = name.endsWith(".py") ? python : process.execPath;
    const printed = execFileSync(command, [join(folder, name)], { env, encoding: "utf8" });
    expect(promised(source)).not.toBe("");
    expect(printed.replaceAll("\r\n", "\n")).toBe(promised(source));
  });

  it("are all in the README of their folder, and begin with a comment", () => {
    const readme = readFileSync(join(folder, "README.md"), "utf8");
    for (const name of programs) {
      expect(readme).toContain(`](${name})`);
      expect(readFileSync(join(folder, name), "utf8")).toMatch(/^(?:\/\/ |""")[A-Z]/);
    }
  });
});
