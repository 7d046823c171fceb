import { readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { downloadFileToCacheDir } from "@huggingface/hub";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { COMMIT, fixture, HubServer } from "./hub-server.ts";

/*
 * These tests document why guard writes its cache itself (`src/models/hub/download.ts`). If one of them fails after an update of
 * @huggingface/hub, its reason no longer applies.
 */

let hub: HubServer;
let cache: string;

beforeEach(async () => {
  hub = await new HubServer().start();
  cache = await mkdtemp(join(tmpdir(), "guard-hub-"));
  hub.repositories["acme/tiny"] = { files: fixture("two-heads") };
  vi.spyOn(console, "debug").mockImplementation(() => {});
});

afterEach(async () => {
  vi.restoreAllMocks();
  await hub.stop();
  await rm(cache, { recursive: true, force: true });
});

const graph = "onnx/model.onnx";
const download = () =>
  downloadFileToCacheDir({ repo: "acme/tiny", path: graph, revision: COMMIT, cacheDir: cache, hubUrl: hub.url });

describe("the official client's own download", () => {
  it("prints to standard output", async () => {
    await download();
    expect(console.debug).toHaveBeenCalledWith(expect.stringContaining("Downloading"));
  });

  it("keeps a damaged file", async () => {
    hub.faults.push(({ server, range }, response) => {
      if (server !== "storage" || range === "bytes=0-0") return false;
      response.writeHead(200).end("else");
      return true;
    });
    expect(readFileSync(await download(), "utf8")).toBe("else");
  });

  it("restarts from the beginning after it was interrupted", async () => {
    const ranges: (string | undefined)[] = [];
    let times = 0;
    hub.faults.push(({ server, range }, response, body) => {
      if (server !== "storage" || range === "bytes=0-0") return false;
      ranges.push(range);
      times += 1;
      if (times > 1) return false;
      response.writeHead(200, { "content-length": body.length });
      response.write(body.subarray(0, 100), () => response.socket?.destroySoon());
      return true;
    });
    await expect(download()).rejects.toThrow();
    await download();
    expect(ranges).toEqual([undefined, undefined]);
  });

  it("writes to the same file as a concurrent download", async () => {
    const names = new Set<string>();
    let waiting: (() => void)[] = [];
    hub.faults.push(({ server, range }, response, body) => {
      if (server !== "storage" || range === "bytes=0-0") return false;
      response.writeHead(200, { "content-length": body.length });
      response.write(body.subarray(0, 100));
      waiting.push(() => response.end(body.subarray(100)));
      return true;
    });
    const both = [download(), download()];
    await vi.waitFor(
      async () => {
        expect(waiting.length).toBe(2);
        for (const name of await readdir(join(cache, "models--acme--tiny/blobs"))) names.add(name);
        expect(names.size).toBeGreaterThan(0);
      },
      { timeout: 30_000 },
    );
    for (const go of waiting) go();
    waiting = [];
    const results = await Promise.allSettled(both);
    expect(names.size).toBe(1);
    // The second download finds its file deleted.
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});
