import { type ChildProcess, execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { COMMIT, fixture, HubServer } from "./hub-server.ts";

const cli = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
let hub: HubServer;
let cache: string;

beforeEach(async () => {
  hub = await new HubServer().start();
  cache = mkdtempSync(join(tmpdir(), "guard-hub-"));
});

afterEach(async () => {
  await hub.stop();
  rmSync(cache, { recursive: true, force: true });
});

/** Runs the built CLI in a new process. */
function guard(...args: string[]): {
  child: ChildProcess;
  done: Promise<{ code: number | null; stdout: string; stderr: string }>;
} {
  const env = { ...process.env, HF_ENDPOINT: hub.url, GUARD_MODELS_DIR: cache, HF_TOKEN: "", HF_HUB_OFFLINE: "" };
  let child: ChildProcess | undefined;
  const done = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child = execFile(process.execPath, [cli, ...args], { cwd: cache, env }, (_, stdout, stderr) =>
      resolve({ code: child?.exitCode ?? null, stdout, stderr }),
    );
  });
  return { child: child as ChildProcess, done };
}

/** Sends the first bytes of the graph, and the rest only when released. */
function holdGraph(first: number): () => void {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  hub.faults.push((seen, response, body) => {
    if (seen.server !== "storage") return false;
    const from = Number(/\d+/.exec(seen.range ?? "")?.[0] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, {
      "content-length": body.length - from,
      ...(from > 0 ? { "content-range": `bytes ${from}-${body.length - 1}/${body.length}` } : {}),
    });
    response.write(body.subarray(from, from + first));
    void held.then(() => response.end(body.subarray(from + first)));
    return true;
  });
  return release;
}

const graphRequests = () => hub.seen.filter(({ server }) => server === "storage");
const blobs = () => join(cache, "models--acme--tiny/blobs");
const parts = () => (existsSync(blobs()) ? readdirSync(blobs()).filter((name) => name.endsWith(".incomplete")) : []);
const partSizes = () => parts().map((name) => readFileSync(join(blobs(), name)).length);

describe("guard-scan models", () => {
  it("pulls, lists and removes", async () => {
    hub.repositories["acme/tiny"] = { files: fixture("two-heads"), license: "cc-by-nc-4.0" };
    const pulled = await guard("models", "pull", "acme/tiny").done;
    expect(pulled.code).toBe(0);
    expect(pulled.stdout).toMatch(/^acme\/tiny is in .*c{40}\n$/);
    expect(pulled.stderr).toMatch(/acme\/tiny: onnx\/model\.onnx \(0\.0 MB in total\)/);
    expect(pulled.stderr).toMatch(/cc-by-nc-4\.0, does not seem to allow commercial use/);
    const listed = JSON.parse((await guard("models", "--json").done).stdout);
    expect(listed).toContainEqual(
      expect.objectContaining({ name: "acme/tiny", source: "cached", license: "cc-by-nc-4.0" }),
    );
    const params = JSON.stringify({ model: "acme/tiny", match_type: "full" });
    const scanned = await guard("scan", "calm attack", "--scanner", "PromptInjection", "--params", params).done;
    expect([scanned.code, JSON.parse(scanned.stdout).is_valid]).toEqual([1, false]);
    expect((await guard("models", "remove", "acme/tiny").done).code).toBe(0);
    const missing = await guard("scan", "calm attack", "--scanner", "PromptInjection", "--params", params).done;
    expect(missing.code).toBe(2);
    expect(missing.stderr).toMatch(/^guard: .*guard-scan models pull acme\/tiny[^\n]*\n$/);
    expect(readdirSync(cache)).toEqual([]);
  });

  it.each([
    [["pull"], /pull: give the ID of a model/],
    [["pull", "tiny"], /tiny is not the ID of a model/],
    [["pull", "acme/none"], /no public model acme\/none/],
    [["remove", "acme/none"], /acme\/none is not in /],
    [["remove", "acme/tiny@v1"], /remove takes owner\/name/],
    [["pul", "acme/tiny"], /did you mean pull\?/],
  ])("explains %j", async (args, message) => {
    const { code, stderr } = await guard("models", ...args).done;
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

describe("processes", () => {
  it("leave whole files after concurrent downloads", async () => {
    const graph = randomBytes(200_000);
    hub.repositories["acme/tiny"] = { files: { ...fixture("two-heads"), "onnx/model.onnx": graph } };
    const release = holdGraph(50_000);
    const both = [guard("models", "pull", "acme/tiny"), guard("models", "pull", "acme/tiny")];
    await vi.waitFor(() => expect(graphRequests().length).toBe(2), { timeout: 30_000 });
    release();
    expect((await Promise.all(both.map(({ done }) => done))).map(({ code }) => code)).toEqual([0, 0]);
    const root = join(cache, "models--acme--tiny/snapshots", COMMIT);
    expect(graph.equals(readFileSync(join(root, "onnx/model.onnx")))).toBe(true);
    expect(parts()).toEqual([]);
  });

  it.each(["SIGKILL", "SIGINT"] as const)("continue after %s where another one stopped", async (signal) => {
    const graph = randomBytes(200_000);
    hub.repositories["acme/tiny"] = { files: { ...fixture("two-heads"), "onnx/model.onnx": graph } };
    holdGraph(50_000);
    const { child, done } = guard("models", "pull", "acme/tiny");
    await vi.waitFor(() => expect(partSizes()).toContain(50_000), { timeout: 30_000 });
    child.kill(signal);
    const { code, stderr } = await done;
    if (signal === "SIGINT") {
      expect(code).toBe(2);
      expect(stderr).toContain("interrupted");
    }
    hub.faults = [];
    expect((await guard("models", "pull", "acme/tiny").done).code).toBe(0);
    expect(graphRequests().at(-1)?.range).toBe("bytes=50000-199999");
    const whole = readFileSync(join(cache, "models--acme--tiny/snapshots", COMMIT, "onnx/model.onnx"));
    expect(graph.equals(whole)).toBe(true);
  });
});
