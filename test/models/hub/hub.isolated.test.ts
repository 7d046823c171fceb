import { randomBytes } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { listModels } from "../../../src/index.ts";
import { Engine } from "../../../src/models/engine.ts";
import { findHubModel } from "../../../src/models/hub/cache.ts";
import { type PullProgress, pullHubModel } from "../../../src/models/hub/hub.ts";
import { formatHubId, type HubId, parseHubId } from "../../../src/models/hub/hub-id.ts";
import { modelsFolder } from "../../../src/models/model-files.ts";
import { type ModelNotice, onModelNotice } from "../../../src/models/notices.ts";
import {
  Anonymize,
  BanCompetitors,
  Gibberish,
  PromptInjection,
  Toxicity,
} from "../../../src/scanners/generated/input-scanners.ts";
import { createServer, startServer } from "../../../src/server/index.ts";
import { GuardError, GuardValidationError } from "../../../src/support/errors.ts";
import { scanned } from "../../support/rewritten.ts";
import { COMMIT, etagOf, fixture, HubServer, TOKEN } from "./hub-server.ts";

/** A long timeout for busy machines. */
const WAIT = { timeout: 30_000 };

let hub: HubServer;
let cache: string;

beforeEach(async () => {
  hub = await new HubServer().start();
  cache = mkdtempSync(join(tmpdir(), "guard-hub-"));
  vi.stubEnv("HF_ENDPOINT", `${hub.url}/`);
  vi.stubEnv("HF_TOKEN", "");
  vi.stubEnv("HF_HUB_OFFLINE", "");
  vi.stubEnv("GUARD_MODELS_DIR", cache);
  hub.repositories["acme/tiny"] = { files: fixture("two-heads"), license: "apache-2.0" };
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await hub.stop();
  rmSync(cache, { recursive: true, force: true });
});

/** An engine with the environment of this test. */
const engine = () => Engine.fromEnvironment();

const idOf = (model: string) => parseHubId(model) as HubId;
const pull = (model: string, options = {}) => pullHubModel(idOf(model), cache, options);

async function failure(promise: Promise<unknown>): Promise<GuardError> {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(GuardError);
  return error;
}

/** All files of a repository in the cache, as relative paths. */
function cached(repository = "acme/tiny"): string[] {
  const home = join(cache, `models--${repository.replace("/", "--")}`);
  if (!existsSync(home)) return [];
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
    .sort();
}

describe("the name of a model", () => {
  it.each([
    ["acme/tiny", { repository: "acme/tiny", revision: "main" }],
    [
      "Isotonic/deberta-v3-base_finetuned_ai4privacy_v2",
      { repository: "Isotonic/deberta-v3-base_finetuned_ai4privacy_v2", revision: "main" },
    ],
    ["acme/tiny@v1.0", { repository: "acme/tiny", revision: "v1.0" }],
    ["acme/tiny@refs/pr/3", { repository: "acme/tiny", revision: "refs/pr/3" }],
    ["acme/tiny:onnx/model_int8.onnx", { repository: "acme/tiny", revision: "main", graph: "onnx/model_int8.onnx" }],
    [`acme/tiny@${COMMIT}:a.onnx`, { repository: "acme/tiny", revision: COMMIT, graph: "a.onnx" }],
  ])("%s belongs to the hub", (model, id) => {
    expect(parseHubId(model)).toEqual(id);
    expect(formatHubId(id)).toBe(model);
  });

  it.each([
    ...["tiny", "a/b/c", "./acme", "../acme", "/acme/tiny", "C:/models", "acme/tiny@", "acme/tiny:config.json"],
    ...["acme/..", "acme/a--b", "acme/tiny:../x.onnx", "acme/tiny:/x.onnx", "acme/tiny:a\\b.onnx", "acme/tiny@a/../b"],
    ...["acme/-x", "acme/x-", "acme/tiny x", `acme/${"x".repeat(100)}`],
  ])("%s is invalid", (model) => {
    expect(parseHubId(model)).toBeUndefined();
  });
});

describe("a download", () => {
  it("fetches the files that the engine reads, one of several graphs, and is listed", async () => {
    const { files } = hub.repositories["acme/tiny"] as { files: Record<string, Buffer> };
    Object.assign(files, {
      "README.md": Buffer.from("---\nlicense:\n- other\n- apache-2.0\n---\nA card."),
      "pytorch_model.bin": randomBytes(64),
      "tokenizer_config.json": Buffer.from("{}"),
      "1_Pooling/config.json": Buffer.from('{"pooling_mode_mean_tokens":true}'),
      "onnx/model_quantized.onnx": randomBytes(64),
    });
    const progress: PullProgress[] = [];
    const { folder, graph } = await pull("acme/tiny", { onProgress: (step: PullProgress) => progress.push(step) });
    expect(folder).toBe(join(cache, "models--acme--tiny", "snapshots", COMMIT));
    expect(graph).toBe("onnx/model.onnx");
    const names = [
      "README.md",
      "config.json",
      "tokenizer.json",
      "tokenizer_config.json",
      "1_Pooling/config.json",
      "onnx/model.onnx",
    ];
    const absent = ["model.onnx", "model_quantized.onnx", "model_int8.onnx", "onnx/model_int8.onnx"];
    expect(cached()).toEqual(
      [
        "refs/main",
        ...absent.map((name) => `.no_exist/${COMMIT}/${name}`),
        ...names.map((name) => `blobs/${etagOf(name, files[name] as Buffer)}`),
        ...names.map((name) => `snapshots/${COMMIT}/${name}`),
      ].sort(),
    );
    expect(readFileSync(join(cache, "models--acme--tiny/refs/main"), "utf8")).toBe(COMMIT);
    expect(readlinkSync(join(folder, graph))).toBe(`../../../blobs/${etagOf(graph, files[graph] as Buffer)}`);
    const total = names.reduce((sum, name) => sum + (files[name]?.length ?? 0), 0);
    expect(progress.at(-1)).toEqual({ model: "acme/tiny", file: "onnx/model.onnx", bytes: total, total });
    for (const name of names) expect(readFileSync(join(folder, name))).toEqual(files[name]);
    expect(listModels().filter(({ source }) => source === "cached")).toEqual([
      {
        model: "acme/tiny",
        source: "cached",
        folder,
        size: total,
        labels: expect.any(Array),
        license: "apache-2.0",
      },
    ]);
  });

  it("is not repeated", async () => {
    await pull("acme/tiny");
    const before = hub.downloads.length;
    expect(before).toBe(4);
    await pull("acme/tiny");
    expect(hub.downloads.length).toBe(before);
    const model = engine().model("acme/tiny");
    const asked = hub.seen.length;
    await model.load();
    expect(hub.seen.length).toBe(asked);
    await model.close();
  });

  it("sends the token to the hub only", async () => {
    vi.stubEnv("HF_TOKEN", TOKEN);
    (hub.repositories["acme/tiny"] as { access?: string }).access = "private";
    await pull("acme/tiny");
    const at = (server: string) =>
      new Set(hub.seen.filter((seen) => seen.server === server).map(({ authorization }) => authorization));
    expect(at("hub")).toEqual(new Set([`Bearer ${TOKEN}`]));
    expect(at("storage")).toEqual(new Set([undefined]));
  });

  it("selects a named graph and a revision, beside the others", async () => {
    const { files } = hub.repositories["acme/tiny"] as { files: Record<string, Buffer> };
    const other = files["onnx/model.onnx"] as Buffer;
    files["onnx/model_int8.onnx"] = other;
    files["model.onnx"] = randomBytes(32);
    (hub.repositories["acme/tiny"] as { revisions?: object }).revisions = { "v1/x": COMMIT };
    const named = await pull("acme/tiny@v1/x:onnx/model_int8.onnx");
    expect(named.graph).toBe("onnx/model_int8.onnx");
    expect(findHubModel(idOf("acme/tiny@v1/x"), cache)).toHaveProperty("missing");
    expect((await pull("acme/tiny")).graph).toBe("model.onnx");
    expect(findHubModel(idOf(`acme/tiny@${COMMIT}:onnx/model_int8.onnx`), cache)).toMatchObject(named);
    expect(listModels().flatMap(({ model, source }) => (source === "cached" ? model : []))).toEqual([
      "acme/tiny",
      "acme/tiny:onnx/model_int8.onnx",
    ]);
    const model = engine().model("acme/tiny:onnx/model_int8.onnx");
    expect((await model.load()).maxLength).toBe(64);
    await model.close();
  });

  it("of two graphs of one commit at once keeps both", async () => {
    const { files } = hub.repositories["acme/tiny"] as { files: Record<string, Buffer> };
    for (let index = 0; index < 4; index++) files[`onnx/${index}.onnx`] = files["onnx/model.onnx"] as Buffer;
    const models = Array.from({ length: 4 }, (_, index) => `acme/tiny:onnx/${index}.onnx`);
    await Promise.all(models.map((model) => pull(model)));
    for (const model of models) expect(findHubModel(idOf(model), cache)).toHaveProperty("folder");
  });

  it("fetches the newest commit of a branch, and keeps the old one for callers that name it", async () => {
    await pull("acme/tiny");
    const next = "d".repeat(40);
    const repository = hub.repositories["acme/tiny"] as { files: Record<string, Buffer>; revisions?: object };
    repository.revisions = { next };
    await pull("acme/tiny@next");
    writeFileSync(join(cache, "models--acme--tiny/refs/main"), next);
    expect(findHubModel(idOf("acme/tiny"), cache)).toMatchObject({ folder: expect.stringContaining(next) });
    await pull("acme/tiny");
    expect(findHubModel(idOf("acme/tiny"), cache)).toMatchObject({ folder: expect.stringContaining(COMMIT) });
    expect(findHubModel(idOf(`acme/tiny@${next}`), cache)).toMatchObject({ folder: expect.stringContaining(next) });
  });

  it("includes the weight files of a graph", async () => {
    // An entry `location` of external_data, as encoded in a graph.
    const entry = Buffer.concat([Buffer.from("\n\x08location\x12\x0bweights.bin", "latin1")]);
    hub.repositories["acme/tiny"] = {
      files: {
        "config.json": Buffer.from("{}"),
        "tokenizer.json": Buffer.from("{}"),
        "onnx/model.onnx": Buffer.concat([randomBytes(8), entry, randomBytes(8)]),
        "onnx/model.onnx_data": randomBytes(64),
        "onnx/model.onnx_data_1": randomBytes(64),
        "onnx/weights.bin": randomBytes(64),
        "onnx/other.bin": randomBytes(64),
        "weights.bin": randomBytes(64),
      },
    };
    const { folder } = await pull("acme/tiny");
    expect(readdirSync(join(folder, "onnx")).sort()).toEqual([
      ...["model.onnx", "model.onnx_data", "model.onnx_data_1", "weights.bin"],
    ]);
    expect(existsSync(join(folder, "weights.bin"))).toBe(false);
    rmSync(join(folder, "onnx/weights.bin"));
    expect(findHubModel(idOf("acme/tiny"), cache)).toEqual({ missing: ["onnx/weights.bin"] });
  });

  it("uses the configuration and tokenizer beside the graph if they are nowhere else", async () => {
    const files = Object.entries(fixture("two-heads", "model.onnx"));
    hub.repositories["acme/tiny"] = { files: Object.fromEntries(files.map(([name, body]) => [`onnx/${name}`, body])) };
    const { folder, graph } = await pull("acme/tiny");
    expect([folder.endsWith(join(COMMIT, "onnx")), graph]).toEqual([true, "model.onnx"]);
    const model = engine().model("acme/tiny");
    expect((await model.load()).maxLength).toBe(64);
    await model.close();
  });
});

describe("the cache of Hugging Face's tools", () => {
  /** Creates a cache as Python's tools do: contents, links to them, and the commit of `main`. */
  function downloadedByPython(names: readonly string[]): string {
    const { files } = hub.repositories["acme/tiny"] as { files: Record<string, Buffer> };
    const home = join(cache, "models--acme--tiny");
    for (const folder of ["blobs", "refs", `snapshots/${COMMIT}/onnx`]) {
      mkdirSync(join(home, folder), { recursive: true });
    }
    writeFileSync(join(home, "refs/main"), COMMIT);
    for (const name of names) {
      const body = files[name] as Buffer;
      writeFileSync(join(home, "blobs", etagOf(name, body)), body);
      const blob = `${"../".repeat(name.split("/").length + 1)}blobs/${etagOf(name, body)}`;
      symlinkSync(blob, join(home, "snapshots", COMMIT, name));
    }
    return home;
  }

  it("is found like Hugging Face's tools find it, unless guard has its own folder", () => {
    const home = { HF_HOME: "/hf" };
    expect(modelsFolder({})).toBe(join(homedir(), ".cache/huggingface/hub"));
    expect(modelsFolder({ XDG_CACHE_HOME: "/xdg" })).toBe(resolve("/xdg/huggingface/hub"));
    expect(modelsFolder({ ...home, XDG_CACHE_HOME: "/xdg" })).toBe(resolve("/hf/hub"));
    expect(modelsFolder({ HF_HOME: "~/hf" })).toBe(join(homedir(), "hf/hub"));
    expect(modelsFolder({ ...home, HUGGINGFACE_HUB_CACHE: "/old" })).toBe(resolve("/old"));
    expect(modelsFolder({ ...home, HF_HUB_CACHE: "/cache", HUGGINGFACE_HUB_CACHE: "/old" })).toBe(resolve("/cache"));
    expect(modelsFolder({ ...home, GUARD_MODELS_DIR: "/own" })).toBe(resolve("/own"));
  });

  it("is used without a request to the hub", async () => {
    downloadedByPython(["config.json", "tokenizer.json", "onnx/model.onnx"]);
    const model = engine().model("acme/tiny");
    expect((await model.load()).maxLength).toBe(64);
    await model.close();
    expect(hub.seen).toEqual([]);
    expect(listModels().map(({ model }) => model)).toContain("acme/tiny");
  });

  it("receives only the missing files", async () => {
    downloadedByPython(["tokenizer.json", "onnx/model.onnx"]);
    await pull("acme/tiny");
    expect(hub.downloads.sort()).toEqual(["README.md", "config.json"]);
  });

  it("is ambiguous if it has only a smaller graph and no list of files", async () => {
    const { files } = hub.repositories["acme/tiny"] as { files: Record<string, Buffer> };
    files["onnx/model_int8.onnx"] = files["onnx/model.onnx"] as Buffer;
    const home = downloadedByPython(["config.json", "tokenizer.json", "onnx/model_int8.onnx"]);
    expect(findHubModel(idOf("acme/tiny"), cache)).toEqual({
      missing: ["an ONNX file (of those here, acme/tiny:onnx/model_int8.onnx can be named)"],
    });
    expect(findHubModel(idOf("acme/tiny:onnx/model_int8.onnx"), cache)).toHaveProperty("folder");
    const trees = join(home, "trees");
    mkdirSync(trees);
    const listed = ["config.json", "tokenizer.json", "onnx/model_int8.onnx"].map((path) => [path, { size: 1 }]);
    writeFileSync(
      join(trees, `${COMMIT}.json`),
      JSON.stringify({ format_version: 1, files: Object.fromEntries(listed) }),
    );
    expect(findHubModel(idOf("acme/tiny"), cache)).toMatchObject({ graph: "onnx/model_int8.onnx" });
    rmSync(trees, { recursive: true });
    delete files["onnx/model.onnx"];
    await pull("acme/tiny");
    expect(findHubModel(idOf("acme/tiny"), cache)).toMatchObject({ graph: "onnx/model_int8.onnx" });
    expect(hub.downloads).toEqual(["README.md"]);
  });

  it("keeps the partial downloads of other tools", async () => {
    const home = downloadedByPython(["config.json"]);
    const { files } = hub.repositories["acme/tiny"] as { files: Record<string, Buffer> };
    const foreign = `${etagOf("onnx/model.onnx", files["onnx/model.onnx"] as Buffer)}.0a1b2c3d.incomplete`;
    writeFileSync(join(home, "blobs", foreign), "half");
    await pull("acme/tiny");
    expect(readFileSync(join(home, "blobs", foreign), "utf8")).toBe("half");
  });

  it("does not need the Xet service", async () => {
    (hub.repositories["acme/tiny"] as { isXet?: boolean }).isXet = true;
    const { folder, graph } = await pull("acme/tiny");
    expect(readFileSync(join(folder, graph))).toEqual(hub.repositories["acme/tiny"]?.files["onnx/model.onnx"]);
  });

  it("is named if it is not writable", async () => {
    const file = join(cache, "file");
    writeFileSync(file, "");
    const error = await failure(pullHubModel(idOf("acme/tiny"), file));
    expect([error.code, error.message]).toEqual([
      "GUARD_DOWNLOAD",
      `acme/tiny: ${file} is not a folder; GUARD_MODELS_DIR names another folder`,
    ]);
  });
});

describe("of several graphs", () => {
  it("a download selects the one that the engine would select", async () => {
    const source = readFileSync(new URL("../../../crates/guard-core/src/engine/config.rs", import.meta.url), "utf8");
    const [, list = ""] = /const GRAPH_FILES: &\[&str\] = &\[([^\]]+)\]/.exec(source) ?? [];
    const graphs = [...list.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
    expect(graphs.length).toBeGreaterThan(3);
    const rest = { "a.onnx": randomBytes(8), "config.json": Buffer.from("{}"), "tokenizer.json": Buffer.from("{}") };
    for (const [index, graph] of graphs.entries()) {
      const left = graphs.slice(index).reverse();
      hub.repositories[`acme/g${index}`] = {
        files: { ...rest, ...Object.fromEntries(left.map((name) => [name, randomBytes(8)])) },
      };
      expect((await pull(`acme/g${index}`)).graph).toBe(graph);
    }
  });
});

describe("an unusable repository", () => {
  it.each([
    [
      "without ONNX",
      ["config.json", "tokenizer.json", "model.safetensors"],
      /optimum-cli export onnx --model acme\/tiny/,
    ],
    ["without a tokenizer", ["config.json", "model.onnx", "spm.model"], /has no tokenizer\.json/],
    [
      "with unusual graphs",
      ["config.json", "tokenizer.json", "a.onnx", "b.onnx"],
      /name one of its own, such as acme\/tiny:a\.onnx: a\.onnx, b\.onnx/,
    ],
  ])("%s is rejected before anything is downloaded", async (_, names, message) => {
    hub.repositories["acme/tiny"] = { files: Object.fromEntries(names.map((name) => [name, Buffer.from("{}")])) };
    const error = await failure(pull("acme/tiny"));
    expect(error.code).toBe("GUARD_DOWNLOAD");
    expect(error.message).toMatch(message);
    expect(hub.downloads).toEqual([]);
    expect(cached()).toEqual([]);
  });

  it("lacks the graph", async () => {
    expect((await failure(pull("acme/tiny:x.onnx"))).message).toMatch(/has no file x\.onnx; .*onnx\/model\.onnx/);
  });

  it("lacks the revision", async () => {
    expect((await failure(pull("acme/tiny@nope"))).message).toMatch(/acme\/tiny has no revision nope/);
  });

  it("does not exist", async () => {
    expect((await failure(pull("acme/nothing"))).message).toMatch(/no public model acme\/nothing .* set HF_TOKEN/);
    vi.stubEnv("HF_TOKEN", TOKEN);
    expect((await failure(pull("acme/nothing"))).message).toMatch(/that HF_TOKEN may read/);
    vi.stubEnv("HF_TOKEN", "invalid");
    expect((await failure(pull("acme/tiny"))).message).toMatch(/does not know the token in HF_TOKEN/);
  });

  it("is gated", async () => {
    (hub.repositories["acme/tiny"] as { access?: string }).access = "gated";
    const { message } = await failure(pull("acme/tiny"));
    expect(message).toContain(`accept its conditions at ${hub.url}/acme/tiny, and set HF_TOKEN`);
    vi.stubEnv("HF_TOKEN", "hf_other");
    expect((await failure(pull("acme/tiny"))).message).toMatch(/the account of HF_TOKEN has no access: ask for it/);
    vi.stubEnv("HF_TOKEN", TOKEN);
    expect(await pull("acme/tiny")).toHaveProperty("folder");
  });

  it("lists files outside of it", async () => {
    const repository = hub.repositories["acme/tiny"] as { files: Record<string, Buffer> };
    repository.files = { "../../config.json": Buffer.from("{}"), ...fixture("two-heads", "model.onnx") };
    await pull("acme/tiny");
    expect(hub.downloads.sort()).toEqual(["README.md", "config.json", "model.onnx", "tokenizer.json"]);
  });

  it("has an invalid endpoint", async () => {
    vi.stubEnv("HF_ENDPOINT", "hub");
    const error = await failure(pull("acme/tiny"));
    expect(error).toBeInstanceOf(GuardValidationError);
    expect((error as GuardValidationError).path).toBe("HF_ENDPOINT");
  });
});

describe("a failing download", () => {
  const large = randomBytes(300_000);
  const isGraph = ({ server }: { server: string }) => server === "storage";

  beforeEach(() => {
    (hub.repositories["acme/tiny"] as { files: Record<string, Buffer> }).files["onnx/model.onnx"] = large;
  });

  /** Sends the first bytes of the graph, and then nothing more. */
  function breaksOff(after: number, times = 1): void {
    let left = times;
    hub.faults.push((seen, response, body) => {
      if (!isGraph(seen) || left === 0) return false;
      left -= 1;
      const from = Number(/\d+/.exec(seen.range ?? "")?.[0] ?? 0);
      response.writeHead(from > 0 ? 206 : 200, {
        "content-length": body.length - from,
        ...(from > 0 ? { "content-range": `bytes ${from}-${body.length - 1}/${body.length}` } : {}),
      });
      response.write(body.subarray(from, from + after), () => response.socket?.destroySoon());
      return true;
    });
  }
  const blobs = () => join(cache, "models--acme--tiny/blobs");
  const parts = () => readdirSync(blobs()).filter((name) => name.endsWith(".incomplete"));
  const ranges = () => hub.seen.filter(isGraph).map(({ range }) => range);

  it("is retried after the pause that the hub requests", async () => {
    let refusals = 0;
    const statuses = [429, 503, 500];
    hub.faults.push((_, response) => {
      const status = statuses[refusals];
      if (status === undefined) return false;
      refusals += 1;
      response.writeHead(status, { "retry-after": status === 503 ? new Date().toUTCString() : "0" }).end();
      return true;
    });
    expect(await pull("acme/tiny")).toHaveProperty("folder");
    expect(refusals).toBe(3);
  });

  it("is not retried forever", async () => {
    hub.faults.push((_, response) => {
      response.writeHead(429, { "retry-after": "0" }).end();
      return true;
    });
    expect((await failure(pull("acme/tiny"))).message).toMatch(/answered with status 429/);
    expect(hub.seen.length).toBe(5);
  });

  it("does not wait too long", async () => {
    hub.faults.push((_, response) => {
      response.writeHead(429, { ratelimit: '"api";r=0;t=3600' }).end();
      return true;
    });
    expect((await failure(pull("acme/tiny"))).message).toMatch(/it requests a pause of 3600 s/);
    expect(hub.seen.length).toBe(1);
  });

  it("resumes after the connection broke", async () => {
    breaksOff(100_000, 2);
    const { folder } = await pull("acme/tiny");
    expect(large.equals(readFileSync(join(folder, "onnx/model.onnx")))).toBe(true);
    expect(ranges()[0]).toBeUndefined();
    const starts = ranges()
      .slice(1)
      .map((range) => Number(/\d+/.exec(range ?? "")?.[0]));
    expect(starts.length).toBe(2);
    expect(starts.every((start) => start > 0)).toBe(true);
  });

  it("resumes after an earlier process ended", async () => {
    const stop = new AbortController();
    const aborted = failureOf(
      pull("acme/tiny", {
        signal: stop.signal,
        onProgress: ({ file, bytes }: PullProgress) => {
          if (file === "onnx/model.onnx" && bytes > 100_000) stop.abort(new Error("enough"));
        },
      }),
    );
    hub.faults.push((seen, response, body) => {
      if (!isGraph(seen) || seen.range) return false;
      response.writeHead(200, { "content-length": body.length });
      response.write(body.subarray(0, 150_000));
      return true;
    });
    expect((await aborted)?.message).toBe("enough");
    await vi.waitFor(() => expect(parts()).toEqual([expect.stringContaining("guard-free")]), WAIT);
    expect(findHubModel(idOf("acme/tiny"), cache)).toHaveProperty("missing");
    const { folder } = await pull("acme/tiny");
    expect(large.equals(readFileSync(join(folder, "onnx/model.onnx")))).toBe(true);
    expect(Number(/^bytes=(\d+)-/.exec(ranges().at(-1) ?? "")?.[1])).toBeGreaterThan(90_000);
    expect(parts()).toEqual([]);
  });

  it("restarts if the server ignores ranges", async () => {
    breaksOff(100_000);
    hub.faults.push((seen, response, body) => {
      if (!isGraph(seen)) return false;
      response.writeHead(200, { "content-length": body.length }).end(body);
      return true;
    });
    const { folder } = await pull("acme/tiny");
    expect(large.equals(readFileSync(join(folder, "onnx/model.onnx")))).toBe(true);
  });

  it("fails if the server ignores ranges and always breaks off", { timeout: 60_000 }, async () => {
    hub.faults.push((seen, response, body) => {
      if (!isGraph(seen)) return false;
      response.writeHead(200, { "content-length": body.length });
      response.write(body.subarray(0, 100_000), () => response.socket?.destroySoon());
      return true;
    });
    expect((await failure(pull("acme/tiny"))).message).toMatch(/the connection broke off/);
  });

  it("restarts once if the partial file is corrupt", async () => {
    breaksOff(100_000, 1);
    const stop = new AbortController();
    await failureOf(
      pull("acme/tiny", {
        signal: stop.signal,
        onProgress: ({ file, bytes }: PullProgress) => {
          if (file === "onnx/model.onnx" && bytes > 50_000) stop.abort();
        },
      }),
    );
    await vi.waitFor(() => expect(parts()).toEqual([expect.stringContaining("guard-free")]), WAIT);
    writeFileSync(join(blobs(), parts()[0] as string), randomBytes(60_000));
    const { folder } = await pull("acme/tiny");
    expect(large.equals(readFileSync(join(folder, "onnx/model.onnx")))).toBe(true);
    expect(ranges().slice(-2)).toEqual(["bytes=60000-299999", undefined]);
  });

  it.each([
    ["has another content", (body: Buffer) => randomBytes(body.length), /the hash of .* differs/],
    ["is longer", (body: Buffer) => Buffer.concat([body, body]), /is longer than the hub states/],
  ])("is rejected if a file %s", async (_, change, message) => {
    hub.faults.push((seen, response, body) => {
      if (!isGraph(seen)) return false;
      response.writeHead(200).end(change(body));
      return true;
    });
    expect((await failure(pull("acme/tiny"))).message).toMatch(message);
    expect(findHubModel(idOf("acme/tiny"), cache)).toHaveProperty("missing");
    expect(cached().some((file) => file.endsWith("model.onnx"))).toBe(false);
  });

  it("stops when all callers have aborted", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    hub.faults.push((seen, response, body) => {
      if (!isGraph(seen)) return false;
      void held.then(() => response.writeHead(200, { "content-length": body.length }).end(body));
      return true;
    });
    const stop = new AbortController();
    const [first, second] = [failureOf(pull("acme/tiny", { signal: stop.signal })), pull("acme/tiny")];
    await vi.waitFor(() => expect(ranges().length).toBe(1), WAIT);
    stop.abort(new Error("gone"));
    expect((await first)?.message).toBe("gone");
    release();
    expect(await second).toHaveProperty("folder");
    expect(ranges().length).toBe(1);
  });

  async function failureOf(promise: Promise<unknown>): Promise<Error | undefined> {
    return promise.then(
      () => undefined,
      (error) => error,
    );
  }
});

describe("offline", () => {
  it("uses the local files", async () => {
    await pull("acme/tiny");
    vi.stubEnv("HF_HUB_OFFLINE", "1");
    const asked = hub.seen.length;
    const model = engine().model("acme/tiny");
    await model.load();
    await model.close();
    expect(hub.seen.length).toBe(asked);
  });

  it("names the missing files", async () => {
    vi.stubEnv("HF_HUB_OFFLINE", "1");
    const error = await failure(engine().model("acme/tiny").load());
    expect(error.message).toMatch(/HF_HUB_OFFLINE is set, .* lacks config\.json, tokenizer\.json, an ONNX file/);
    vi.stubEnv("HF_HUB_OFFLINE", "");
    const { folder } = await pull("acme/tiny");
    rmSync(join(folder, "tokenizer.json"));
    vi.stubEnv("HF_HUB_OFFLINE", "true");
    expect((await failure(engine().model("acme/tiny").load())).message).toMatch(/lacks tokenizer\.json$/);
    expect(hub.downloads.length).toBe(4);
  });
});

describe("a scanner", () => {
  it("downloads its model when it is loaded, not when it scans", async () => {
    const scanner = new PromptInjection({ model: "acme/tiny", matchType: "full" }, { engine: engine() });
    const refused = await failure(scanner.scan("calm attack"));
    expect(refused.code).toBe("GUARD_MODEL");
    expect(refused.message).toMatch(/not on this machine.*guard-scan models pull acme\/tiny/);
    expect(hub.seen).toEqual([]);
    await scanner.load();
    // The mean id of these two pieces makes a logit of 4.5.
    const { isValid, probability } = await scanner.scan("calm attack");
    expect(isValid).toBe(false);
    expect(probability).toBeCloseTo(1 / (1 + Math.exp(-4.5)), 5);
    await scanner.close();
  });

  it("does not download a model while a text waits", async () => {
    const scanner = new Toxicity({ model: "acme/tiny", labels: ["INJECTION"] }, { engine: engine() });
    expect((await failure(scanner.scan("calm attack"))).message).toMatch(/guard-scan models pull acme\/tiny/);
    expect(hub.seen).toEqual([]);
    await scanner.load();
    expect((await scanner.scan("calm attack")).isValid).toBe(false);
    await scanner.close();
  });

  it("downloads nothing after it is closed, and stops a running download", async () => {
    const closed = new PromptInjection({ model: "acme/tiny" }, { engine: engine() });
    await closed.close();
    expect((await failure(closed.load())).code).toBe("GUARD_CLOSED");
    expect(hub.seen).toEqual([]);
    hub.faults.push(({ server }) => server === "storage");
    const scanner = new PromptInjection({ model: "acme/tiny" }, { engine: engine() });
    const loading = failure(scanner.load());
    await vi.waitFor(() => expect(hub.seen.some(({ server }) => server === "storage")).toBe(true), WAIT);
    await scanner.close();
    expect((await loading).code).toBe("GUARD_CLOSED");
  });

  it("can be loaded again after a failure", async () => {
    const scanner = new PromptInjection({ model: "acme/late" }, { engine: engine() });
    await failure(scanner.load());
    hub.repositories["acme/late"] = { files: fixture("two-heads", "model.onnx") };
    await scanner.load();
    expect((await scanner.detect("calm attack")).category).toBe("INJECTION");
    await scanner.close();
  });

  it("finds names with a model of the hub, configured as in llm-guard", async () => {
    hub.repositories["acme/ner"] = { files: fixture("names") };
    const scanner = new Anonymize(
      { recognizerConf: { DEFAULT_MODEL: "acme/ner" }, entityTypes: ["PERSON"] },
      { engine: engine() },
    );
    await expect(scanner.scan("Ivan in Moscow")).rejects.toThrow(/guard-scan models pull acme\/ner/);
    await scanner.load();
    const { rewritten } = await scanned(scanner, "Ivan in Moscow");
    expect(rewritten).toBe("[REDACTED_PERSON_1] in Moscow");
    await scanner.close();
  });

  it("names the option if a model of the hub finds no names", async () => {
    const scanner = new Anonymize(
      { recognizerConf: [join("test", "fixtures", "names"), "acme/text"] },
      { engine: engine() },
    );
    const config = { architectures: ["BertForSequenceClassification"], id2label: { 0: "a", 1: "b" } };
    hub.repositories["acme/text"] = {
      files: { ...fixture("names"), "config.json": Buffer.from(JSON.stringify(config)) },
    };
    const error = await failure(scanner.load());
    await scanner.close();
    expect((error as GuardValidationError).path).toMatch(/^recognizerConf\.1/);
  });

  it("distinguishes competitors from other words with a model of the hub", async () => {
    hub.repositories["acme/ner"] = { files: fixture("names") };
    const scanner = new BanCompetitors(
      { competitors: ["Acme"], model: "acme/ner", threshold: 0.1 },
      { engine: engine() },
    );
    expect((await failure(scanner.scan("Ask Acme Corp"))).code).toBe("GUARD_MODEL");
    await scanner.load();
    expect((await scanner.scan("Ask Acme Corp")).isValid).toBe(false);
    await scanner.close();
  });

  it("reports a requested type that no model of the hub finds", async () => {
    hub.repositories["acme/ner"] = { files: fixture("names") };
    const scanner = new Anonymize({ recognizerConf: "acme/ner", entityTypes: ["SHIP"] }, { engine: engine() });
    expect((await failure(scanner.load())).message).toMatch(/nothing finds SHIP/);
    await scanner.close();
  });

  it("prefers a folder of that name to the hub", async () => {
    const folder = join(cache, "acme", "tiny");
    cpSync(join("test", "fixtures", "two-heads"), folder, { recursive: true });
    const model = engine().model("acme/tiny");
    expect(model.folder).toBe(folder);
    await model.load();
    await model.close();
    expect(hub.seen).toEqual([]);
  });

  it("uses a classifier of the hub in place of an embedded linear model", async () => {
    const scanner = new Gibberish({ model: "acme/tiny" }, { engine: engine() });
    expect((await failure(scanner.scan("Some text"))).code).toBe("GUARD_MODEL");
    await scanner.close();
  });
});

describe("a licence", () => {
  it.each([
    ["cc-by-nc-sa-4.0", 1],
    ["fair-noncommercial-research-license", 1],
    ["mit", 0],
  ])("%s causes %i warnings", async (license, times) => {
    const repository = `acme/${license}`;
    hub.repositories[repository] = { files: fixture("two-heads"), license };
    const notices: ModelNotice[] = [];
    const stop = onModelNotice((notice) => notices.push(notice));
    for (let round = 0; round < 2; round += 1) {
      const model = engine().model(repository);
      await model.load();
      await model.close();
    }
    stop();
    const warnings = notices.filter(({ kind }) => kind === "license");
    expect(warnings.length).toBe(times);
    for (const { message } of warnings) expect(message).toContain(`${repository}, ${license}`);
    expect(notices.filter(({ kind }) => kind === "download").length).toBe(1);
  });

  it("is warned of on standard error without a listener", async () => {
    hub.repositories["acme/quiet"] = { files: fixture("two-heads"), license: "cc-by-nc-4.0" };
    const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
    const model = engine().model("acme/quiet");
    await model.load();
    await model.close();
    expect((await warning).message).toContain("acme/quiet, cc-by-nc-4.0");
  });
});

describe("the server", () => {
  const inputScanners = [{ type: "PromptInjection", params: { model: "acme/served", match_type: "full" } }];

  it("is ready when the model is downloaded, and logs it", async () => {
    hub.repositories["acme/served"] = { files: fixture("two-heads"), license: "cc-by-nc-4.0" };
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    hub.faults.push((seen, response, body) => {
      if (seen.server !== "storage") return false;
      void held.then(() => response.writeHead(200, { "content-length": body.length }).end(body));
      return true;
    });
    const log: string[] = [];
    const server = await startServer({
      config: { inputScanners },
      port: 0,
      logger: { write: (line) => log.push(line) },
    });
    const status = async () => (await fetch(`${server.url}/readyz`)).status;
    await vi.waitFor(() => expect(hub.seen.some(({ server }) => server === "storage")).toBe(true), WAIT);
    expect(await status()).toBe(503);
    release();
    await vi.waitFor(async () => expect(await status()).toBe(200), { timeout: 30_000, interval: 50 });
    const body = JSON.stringify({ prompt: "calm attack" });
    const headers = { "content-type": "application/json" };
    const reply = await fetch(`${server.url}/scan/prompt`, { method: "POST", headers, body });
    expect(await reply.json()).toMatchObject({ is_valid: false });
    await server.close();
    expect(log.join("")).toMatch(/downloading the model acme\/served/);
    expect(log.join("")).toMatch(/"level":40.*acme\/served, cc-by-nc-4\.0/);
  });

  it("does not start with lazy_load and a missing model", async () => {
    const config = { app: { lazyLoad: true }, inputScanners };
    const error = (await createServer(config).catch((reason) => reason)) as GuardValidationError;
    expect(error).toBeInstanceOf(GuardValidationError);
    expect(error.path).toBe("input_scanners.0.params.model");
    expect(error.message).toMatch(/guard-scan models pull acme\/served/);
    expect(hub.seen).toEqual([]);
    hub.repositories["acme/served"] = { files: fixture("two-heads") };
    await pull("acme/served");
    const app = await createServer({ config, logger: { write: () => {} } });
    const payload = { prompt: "calm attack" };
    expect((await app.inject({ method: "POST", url: "/scan/prompt", payload })).json()).toMatchObject({
      is_valid: false,
    });
    await app.close();
  });
});
