import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { checkChain } from "../../../src/audit/chain.ts";
import { type ConfigInput, loadConfig } from "../../../src/config/index.ts";
import { addon } from "../../../src/native.ts";
import { defineScanner } from "../../../src/plugin.ts";
import { passed } from "../../../src/scan/scanner.ts";
import { createServer, type ListenOptions, startServer } from "../../../src/server/index.ts";
import { watchFile } from "../../../src/server/process/watch-file.ts";

const banned = (word: string, more: ConfigInput = {}): ConfigInput => ({
  ...more,
  inputScanners: [{ type: "BanSubstrings", params: { substrings: [word] } }],
});

/** The fields of responses that the tests read. */
type Body = Record<string, unknown> & { errors: { pointer: string; detail: string }[] };

/** Starts a server whose configuration a test changes. */
async function serving(first: ConfigInput, options: Partial<ListenOptions> = {}) {
  const log: string[] = [];
  const next = { read: async () => first };
  const server = await startServer({
    ...{ config: first, port: 0, logger: { write: (line: string) => log.push(line) } },
    reread: () => next.read(),
    ...options,
  });
  onTestFinished(() => server.close());
  const post = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const sent = await fetch(server.url + path, {
      method: "POST",
      headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: sent.status, headers: sent.headers, body: (await sent.json()) as Body };
  };
  const loaded = () =>
    vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200), { timeout: 20_000 });
  await loaded();
  const isValid = async (prompt: string) => (await post("/scan/prompt", { prompt })).body.is_valid;
  const serve = (config: ConfigInput) => {
    next.read = async () => config;
    return server.reload();
  };
  return { ...server, log, next, post, isValid, serve };
}

describe("a reload", () => {
  it("serves the new configuration, and keeps the old one for running requests", async () => {
    let release: (() => void) | undefined;
    const closed = vi.fn();
    const Slow = defineScanner({
      type: "SlowForTests",
      summary: "Waits.",
      sides: { input: {} },
      create: () => ({
        check: (text) =>
          new Promise((resolve) => {
            release = () => resolve({ ...passed(text), isValid: false, score: 1 });
          }),
        close: async () => closed(),
      }),
    });
    const { post, isValid, serve, url } = await serving({ inputScanners: [{ type: Slow }] });
    const early = post("/scan/prompt", { prompt: "zebra" });
    await vi.waitFor(() => expect(release).toBeDefined());
    await serve(banned("lion"));
    expect(await isValid("zebra")).toBe(true);
    expect(await isValid("lion")).toBe(false);
    expect(closed).not.toHaveBeenCalled();
    release?.();
    const { body, headers } = await early;
    expect(body.scanners).toEqual({ SlowForTests: 1 });
    expect(headers.get("connection")).not.toBe("close");
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('guard_reloads_total{result="success"} 1');
    expect(metrics.match(/guard_config_info\{hash="[0-9a-f]{16}"\} 1/g)).toHaveLength(1);
    // The counters continue after the reload.
    expect(metrics).toContain('guard_scanner_verdicts_total{source="input",scanner="SlowForTests",valid="false"} 1');
    expect(metrics).toContain("guard_scans_running 0");
  });

  it("changes nothing if the configuration is invalid, and reports why", async () => {
    const { post, isValid, log, next, serve, url } = await serving(banned("zebra"));
    const bad = { ...banned("lion"), outputScanners: [{ type: "Toxicty" }] };
    await expect(serve(bad)).rejects.toMatchObject({ code: "GUARD_VALIDATION", path: "output_scanners.0.type" });
    const refused = await post("/admin/reload");
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual([
      { pointer: "/output_scanners/0/type", detail: expect.stringContaining("unknown output scanner Toxicty") },
    ]);
    next.read = async () => ({ ...banned("lion"), app: { host: "0.0.0.0", port: -1 } });
    expect((await post("/admin/reload")).body.errors[0]?.pointer).toBe("/app/port");
    const lines = log.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatchObject({ issues: [{ path: "output_scanners.0.type" }] });
    expect(await isValid("zebra")).toBe(false);
    expect(await isValid("lion")).toBe(true);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('guard_reloads_total{result="failure"} 3');
  });

  it("changes nothing if a scanner cannot be loaded, and closes the new scanners", async () => {
    const closed = vi.fn();
    const Failing = defineScanner({
      type: "FailingForTests",
      summary: "Fails.",
      sides: { input: {} },
      create: () => ({
        check: async (text) => passed(text),
        load: async () => {
          throw new Error("the weights are gone");
        },
        close: async () => closed(),
      }),
    });
    const { post, isValid, next } = await serving(banned("zebra"));
    next.read = async () => ({ inputScanners: [{ type: Failing }] });
    const { status, body } = await post("/admin/reload");
    expect(status).toBe(422);
    expect(body.errors[0]?.detail).toContain("the weights are gone");
    expect(closed).toHaveBeenCalledOnce();
    expect(await isValid("zebra")).toBe(false);
  });

  it("loses no request, on open and on new connections", async () => {
    const { url, serve } = await serving(banned("word0"));
    const kept = new Agent({ keepAlive: true });
    onTestFinished(() => kept.destroy());
    let reloads = 0;
    const statuses = new Map<number | undefined, number>();
    const asking = [kept, kept, undefined].map(async (agent) => {
      while (reloads < 5) {
        const status = await ask(`${url}/scan/prompt`, agent);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    for (; reloads < 5; reloads++) await serve(banned(`word${reloads + 1}`));
    await Promise.all(asking);
    expect([...statuses.keys()]).toEqual([200]);
  });

  it("runs once more for all that request it during a reload", async () => {
    const { isValid, next, reload } = await serving(banned("zebra"));
    let reads = 0;
    let word = "lion";
    next.read = async () => {
      reads += 1;
      return banned(word);
    };
    const first = reload();
    word = "tiger";
    const [, second, third] = await Promise.all([first, reload(), reload()]);
    expect(reads).toBe(2);
    expect(second).toBe(third);
    expect(await isValid("tiger")).toBe(false);
    expect(await isValid("lion")).toBe(true);
  });

  it("keeps vaults, limits, and the chain of the audit log", async () => {
    const folder = await temporary();
    const file = join(folder, "audit.jsonl");
    const config = (word: string): ConfigInput => ({
      rateLimit: { enabled: true, limit: "4/hour", characters: "1000000/hour" },
      audit: { to: "file", file },
      inputScanners: [
        { type: "Anonymize", params: { recognizerConf: [] } },
        { type: "BanSubstrings", params: { substrings: [word] } },
      ],
      outputScanners: [{ type: "Deanonymize" }],
    });
    const { post, serve } = await serving(config("zebra"));
    const { body } = await post("/analyze/prompt", { prompt: "Write to ann@example.com" });
    expect(body.vault).toBeDefined();
    await serve(config("lion"));
    const { sanitized_prompt: prompt, vault } = body;
    const { body: restored } = await post("/analyze/output", { prompt, output: prompt, vault });
    expect(restored.sanitized_output).toBe("Write to ann@example.com");
    await serve(config("tiger"));
    await post("/scan/prompt", { prompt: "x" });
    await post("/scan/prompt", { prompt: "x" });
    expect((await post("/scan/prompt", { prompt: "x" })).status).toBe(429);
    const lines = (await readFile(file, "utf8")).split("\n");
    expect(await checkChain(lines, undefined)).toMatchObject({ records: 4, faults: [] });
    expect(new Set(lines.filter(Boolean).map((line) => JSON.parse(line).config)).size).toBe(3);
  });

  it("releases the models of the previous configuration", async () => {
    const opened = vi.spyOn(addon.NativeEngine.prototype, "load");
    const closed = vi.spyOn(addon.NativeModel.prototype, "close");
    onTestFinished(() => void vi.restoreAllMocks());
    // Closing a model twice is allowed.
    const held = () => opened.mock.calls.length - new Set(closed.mock.contexts).size;
    const model = fileURLToPath(new URL("../../fixtures/two-heads", import.meta.url));
    const config = { inputScanners: [{ type: "PromptInjection", params: { model } }] };
    const { serve, close } = await serving(config);
    for (let round = 0; round < 3; round++) await serve(config);
    await serve(banned("zebra"));
    await vi.waitFor(() => expect(held()).toBe(0));
    expect(opened).toHaveBeenCalledTimes(4);
    await serve(config);
    expect(held()).toBe(1);
    await close();
    expect(held()).toBe(0);
  });

  it("rejects a public address without a credential, and reports what needs a restart", async () => {
    const open = { ...banned("zebra"), auth: [{ type: "http_bearer" as const, token: "t" }] };
    const { serve, log } = await serving(open, { host: "0.0.0.0" });
    await expect(serve(banned("lion"))).rejects.toMatchObject({ path: "auth" });
    await serve({ ...open, app: { port: 9 } });
    expect(log.join("")).not.toContain("before a restart");
    const other = await serving({ ...banned("zebra"), app: { port: 0 } }, { port: undefined as unknown as number });
    await other.serve({ ...banned("lion"), app: { port: 9 } });
    expect(other.log.join("")).toContain("app.port: the change takes effect after a restart");
  });

  it("is rejected while the first models load, and when the server closes", async () => {
    let load = () => {};
    const Loading = defineScanner({
      type: "LoadingForTests",
      summary: "Loads.",
      sides: { input: {} },
      create: () => ({
        check: async (text) => passed(text),
        load: () =>
          new Promise<void>((resolve) => {
            load = resolve;
          }),
      }),
    });
    const config = { inputScanners: [{ type: Loading }] };
    const log: string[] = [];
    const server = await startServer({
      ...{ config, port: 0, logger: { write: (line: string) => log.push(line) } },
      reread: async () => banned("zebra"),
    });
    onTestFinished(() => server.close());
    await expect(server.reload()).rejects.toMatchObject({ code: "GUARD_STARTING" });
    expect((await fetch(`${server.url}/admin/reload`, { method: "POST" })).status).toBe(503);
    load();
    await vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200));
    await server.reload();
    await server.close();
    await expect(server.reload()).rejects.toMatchObject({ code: "GUARD_CLOSED" });
  });
});

describe("POST /admin/reload", () => {
  const auth = [
    { type: "http_bearer" as const, token: "caller" },
    { type: "http_bearer" as const, token: "operator", mayAdminister: true },
  ];

  it("requires a credential that may administer", async () => {
    const { post } = await serving({ ...banned("zebra"), auth: auth.slice(1) }).catch(() => ({ post: undefined }));
    expect(post).toBeDefined();
    const reload = (token?: string) =>
      post?.("/admin/reload", undefined, token === undefined ? {} : { authorization: `Bearer ${token}` });
    expect((await reload())?.status).toBe(401);
    expect((await reload("wrong"))?.status).toBe(401);
    const done = await reload("operator");
    expect(done).toMatchObject({ status: 200, body: { config: expect.stringMatching(/^[0-9a-f]{16}$/) } });
    const { post: both } = await serving({ ...banned("zebra"), auth });
    expect((await both("/admin/reload", undefined, { authorization: "Bearer caller" })).status).toBe(403);
  });

  it("is in the OpenAPI document, and missing without a configuration file", async () => {
    const { url } = await serving(banned("zebra"));
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, { post: { responses: object } }>;
    };
    expect(Object.keys(paths["/admin/reload"]?.post.responses ?? {})).toEqual(
      expect.arrayContaining(["200", "401", "403", "422", "503"]),
    );
    const without = await startServer({ config: banned("zebra"), port: 0, logger: { write: () => {} } });
    onTestFinished(() => without.close());
    expect((await fetch(`${without.url}/admin/reload`, { method: "POST" })).status).toBe(404);
    await expect(without.reload()).rejects.toMatchObject({ path: "reread" });
  });
});

describe("a watched file", () => {
  const text = (word: string) => `input_scanners:\n  - type: BanSubstrings\n    params: { substrings: [${word}] }\n`;

  it("is reloaded when its content changes", async () => {
    const file = join(await temporary(), "scanners.yml");
    await writeFile(file, text("zebra"));
    const { isValid } = await serving(await loadConfig(file), { reread: () => loadConfig(file), watch: file });
    await writeFile(file, text("lion"));
    await vi.waitFor(async () => expect(await isValid("lion")).toBe(false), { timeout: 20_000, interval: 100 });
  });

  it("may be written, replaced, or reached by a symbolic link that changes", async () => {
    const folder = await temporary();
    // Kubernetes mounts a ConfigMap like this: scanners.yml -> ..data/scanners.yml, and ..data -> a folder for each version.
    for (const version of ["v1", "v2"]) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, "scanners.yml"), text(version));
    }
    const data = join(folder, "..data");
    await symlink("v1", data);
    const file = join(folder, "scanners.yml");
    await symlink(join("..data", "scanners.yml"), file);
    const changed = vi.fn();
    onTestFinished(watchFile(file, changed, 10));
    const once = async (times: number) => vi.waitFor(() => expect(changed).toHaveBeenCalledTimes(times), 10_000);

    await symlink("v2", `${data}_tmp`);
    await rename(`${data}_tmp`, data);
    await once(1);
    await writeFile(join(folder, "v2", "scanners.yml"), text("other"));
    await once(2);
    await writeFile(`${file}.swp`, text("third"));
    await rename(`${file}.swp`, file);
    await once(3);
    await rm(file);
    await writeFile(file, text("fourth"));
    await once(4);
    // Writing the same content causes no reload.
    await writeFile(file, text("fourth"));
    await writeFile(file, text("fifth"));
    await once(5);
  });
});

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "guard-reload-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Returns the status of the response to a prompt. Rejects if the connection fails. */
function ask(url: string, agent: Agent | undefined): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      ...(agent ? { agent } : {}),
    });
    sent.on("error", reject);
    sent.on("response", (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    sent.end(JSON.stringify({ prompt: "hello" }));
  });
}

it("compiles identical validators for identical schemas, so that a reload does not grow V8's code cache", async () => {
  const { Function: real } = globalThis;
  const made: string[] = [];
  onTestFinished(() => {
    globalThis.Function = real;
  });
  globalThis.Function = new Proxy(real, {
    construct: (target, parameters) => {
      made.push(parameters.join("\n"));
      return Reflect.construct(target, parameters);
    },
  });
  const open = async () => {
    made.length = 0;
    const app = await createServer({ config: banned("zebra"), logger: { write() {} } });
    await app.ready();
    await app.close();
    return new Set(made);
  };
  const known = await open();
  const again = await open();
  expect(known.size).toBeGreaterThan(10);
  expect([...again].filter((program) => !known.has(program))).toEqual([]);
});
