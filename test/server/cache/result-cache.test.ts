import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { passed, type Scanner } from "../../../src/scan/scanner.ts";
import { createServer } from "../../../src/server/index.ts";
import { maskingScanner } from "../../support/masking-scanner.ts";
import { JSON_TYPE, scannerOf, standingClock, testServer, waitingScanner, wordScanner } from "../fixtures.ts";

// The client of Redis is loaded only where it is configured.
vi.mock("ioredis", () => {
  throw new Error("loaded");
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const ON: ConfigInput = { cache: { enabled: true } };
const cached = (scanner: Scanner, config: ConfigInput = ON) =>
  testServer({ input: [scanner], output: [scanner] }, config);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** A scanner that passes everything, and counts its texts. */
function countingScanner(more: Partial<Scanner> = {}) {
  const texts: string[] = [];
  const scanner = scannerOf(
    "Counting",
    async (text) => {
      texts.push(text);
      return passed(text);
    },
    more,
  );
  return { scanner, texts };
}

describe("the result cache", () => {
  it("repeats the whole response for the same request", async () => {
    const { scanner, texts } = countingScanner();
    const word = wordScanner("zebra", { replacement: "[ANIMAL]" });
    const { post } = await testServer({ input: [word, scanner] }, ON);
    const body = { prompt: "A zebra 🦓 \u0000 is here.", details: true };
    const first = (await post("/analyze/prompt", body)).json();
    expect(first).toMatchObject({ is_valid: false, sanitized_prompt: "A [ANIMAL] 🦓 \u0000 is here.", cache: "miss" });
    expect((await post("/analyze/prompt", body)).json()).toEqual({ ...first, cache: "hit" });
    // The other name of the same route.
    expect((await post("/analyze/scan", body)).json()).toEqual({ ...first, cache: "hit" });
    expect(texts).toHaveLength(1);
  });

  it("gives responses without details the same body, and does not say that they are cached", async () => {
    const { post } = await cached(wordScanner("x"));
    for (const url of ["/scan/prompt", "/analyze/prompt", "/scan/output", "/scan/conversation"]) {
      const body = { prompt: "x", output: "x", messages: [{ role: "user", content: "x" }] };
      const first = (await post(url, body)).json();
      expect(first.is_valid).toBe(false);
      expect(first).not.toHaveProperty("cache");
      expect((await post(url, body)).json()).toEqual(first);
    }
  });

  it("has a separate entry for everything that a result depends on", async () => {
    const { scanner, texts } = countingScanner();
    const auth = ["token-1", "token-2"].map((token) => ({ type: "http_bearer", token, maySuppress: true }));
    const { post } = await testServer({ input: [scanner, wordScanner("x")], output: [scanner] }, { ...ON, auth });
    const requests: [url: string, body: object, token: string][] = [
      ["/scan/prompt", { prompt: "a" }, "token-1"],
      ["/scan/prompt", { prompt: "a" }, "token-2"],
      ["/scan/prompt", { prompt: "a " }, "token-1"],
      ["/scan/prompt", { prompt: "\ud800" }, "token-1"],
      ["/scan/prompt", { prompt: "\ufffd" }, "token-1"],
      ["/analyze/prompt", { prompt: "a" }, "token-1"],
      ["/scan/prompt", { prompt: "a", scanners_suppress: ["Word"] }, "token-1"],
      ["/scan/prompt", { prompt: "a", scanners_suppress: ["Other"] }, "token-1"],
      ["/scan/prompt", { prompt: "a", details: true }, "token-1"],
      ["/scan/output", { prompt: "a", output: "a" }, "token-1"],
      ["/scan/output", { prompt: "b", output: "a" }, "token-1"],
      ["/scan/conversation", { messages: [{ role: "user", content: "a" }] }, "token-1"],
      [
        "/scan/conversation",
        {
          messages: [
            { role: "tool", content: "a" },
            { role: "user", content: "another" },
          ],
        },
        "token-1",
      ],
    ];
    for (const [url, body, token] of requests) {
      const before = texts.length;
      expect((await post(url, body, bearer(token))).statusCode).toBe(200);
      expect(texts.length, JSON.stringify([url, body, token])).toBeGreaterThan(before);
    }
    const after = texts.length;
    for (const [url, body, token] of requests) await post(url, body, bearer(token));
    expect(texts).toHaveLength(after);
    // The order of suppressed names and an explicit null change no result.
    await post("/scan/prompt", { prompt: "a", scanners_suppress: null, details: false }, bearer("token-1"));
    expect(texts).toHaveLength(after);
  });

  it("stores no response with a vault, and none to a request with a vault", async () => {
    const masking = maskingScanner();
    const { post } = await testServer({ input: [masking] }, ON);
    const body = { prompt: "Write to <Ann>.", details: true };
    const first = (await post("/analyze/prompt", body)).json();
    const second = (await post("/analyze/prompt", body)).json();
    expect([first.cache, second.cache]).toEqual(["miss", "miss"]);
    expect(first.vault).not.toBe(second.vault);
    const together = await Promise.all([0, 1].map(async () => (await post("/analyze/prompt", body)).json()));
    expect(together.map(({ cache }) => cache).sort()).toEqual(["miss", "shared"]);
    expect(new Set(together.map(({ vault }) => vault)).size).toBe(2);
    const next = { prompt: "Nobody.", details: true, vault: first.vault };
    for (let turn = 0; turn < 2; turn++) {
      expect((await post("/analyze/prompt", next)).json()).toMatchObject({ cache: "skipped" });
    }
    for (const cache of ["miss", "hit"]) {
      expect((await post("/analyze/prompt", { ...next, vault: null })).json()).toMatchObject({ cache });
    }
  });

  it("stores no failed scan", async () => {
    let calls = 0;
    const broken = () =>
      scannerOf("Broken", async () => {
        calls++;
        throw new Error("broken");
      });
    const failing = await cached(broken());
    for (let turn = 0; turn < 2; turn++) {
      expect((await failing.post("/scan/prompt", { prompt: "a" })).statusCode).toBe(500);
    }
    const blocking = await cached(broken(), { ...ON, app: { onScannerError: "block" } });
    for (let turn = 0; turn < 2; turn++) {
      const { is_valid, cache } = (await blocking.post("/scan/prompt", { prompt: "a", details: true })).json();
      expect({ is_valid, cache }).toEqual({ is_valid: false, cache: "miss" });
    }
    expect(calls).toBe(4);
  });

  it("stores no verdict of a scanner whose verdicts change with time", async () => {
    const { scanner, texts } = countingScanner({ volatile: true });
    const { post } = await testServer({ input: [scanner], output: [wordScanner("x")] }, ON);
    for (let turn = 0; turn < 2; turn++) {
      expect((await post("/scan/prompt", { prompt: "a", details: true })).json().cache).toBe("skipped");
    }
    expect(texts).toHaveLength(2);
    const body = { prompt: "a", output: "a", details: true };
    for (const use of ["miss", "hit"]) expect((await post("/scan/output", body)).json().cache).toBe(use);
    const reaching = await testServer({}, { ...ON, outputScanners: [{ type: "URLReachability" }] });
    expect((await reaching.post("/scan/output", body)).json().cache).toBe("skipped");
  });

  it("evicts entries older than ttl", async () => {
    const clock = standingClock();
    const { post } = await cached(wordScanner("x"), { cache: { enabled: true, ttl: 60 } });
    const use = async () => (await post("/scan/prompt", { prompt: "a", details: true })).json().cache;
    expect([await use(), await use()]).toEqual(["miss", "hit"]);
    clock.advance(59_000);
    expect(await use()).toBe("hit");
    clock.advance(2000);
    expect(await use()).toBe("miss");
  });

  it("evicts the least recently used entry beyond max_size", async () => {
    const { post } = await cached(wordScanner("x"), { cache: { enabled: true, maxSize: 2 } });
    const use = async (prompt: string) => (await post("/scan/prompt", { prompt, details: true })).json().cache;
    for (const prompt of ["a", "b"]) expect(await use(prompt)).toBe("miss");
    expect(await use("a")).toBe("hit");
    expect(await use("c")).toBe("miss");
    expect(await use("a")).toBe("hit");
    expect(await use("b")).toBe("miss");
  });

  it("runs one scan for identical concurrent requests", async () => {
    const { scanner, started, release } = waitingScanner();
    const { post, get } = await cached(scanner);
    const body = { prompt: "a", details: true };
    const scans = [post("/scan/prompt", body), post("/scan/prompt", body), post("/scan/prompt", body)];
    await started;
    // This request came last, so its result means that the others are cached.
    await post("/scan/prompt", { prompt: "b", scanners_suppress: ["Waiting"] });
    expect((await get("/metrics")).body).toContain("guard_scans_running 1");
    release();
    const uses = (await Promise.all(scans)).map((reply) => reply.json().cache);
    expect(uses.sort()).toEqual(["miss", "shared", "shared"]);
    expect((await post("/scan/prompt", body)).json().cache).toBe("hit");
    const { body: metrics } = await get("/metrics");
    for (const [result, count] of [
      ["hit", 1],
      ["miss", 2],
      ["shared", 2],
    ]) {
      expect(metrics).toContain(`guard_cache_requests_total{result="${result}"} ${count}`);
    }
    expect(metrics).toContain('guard_scanner_verdicts_total{source="input",scanner="Waiting",valid="true"} 4');
    expect(metrics).toContain('guard_scanner_duration_seconds_count{source="input",scanner="Waiting"} 1');
  });

  it("continues a scan while one of its clients waits, and aborts it after the last one", async () => {
    const { scanner, started, aborted } = waitingScanner();
    const { app, post } = await cached(scanner);
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const client = () => {
      const leaving = new AbortController();
      const reply = fetch(`${url}/scan/prompt`, {
        method: "POST",
        headers: JSON_TYPE,
        body: JSON.stringify({ prompt: "a" }),
        signal: leaving.signal,
      });
      const left = expect(reply).rejects.toThrow();
      return async () => {
        leaving.abort();
        await left;
      };
    };
    let isAborted = false;
    aborted.then(() => {
      isAborted = true;
    });
    const leaveFirst = client();
    await started;
    const leaveSecond = client();
    const answered = () => post("/scan/prompt", { prompt: "b", scanners_suppress: ["Waiting"] });
    await fetch(`${url}/healthz`);
    await answered();
    await leaveFirst();
    await answered();
    expect(isAborted).toBe(false);
    await leaveSecond();
    await aborted;
  });

  it("is off by default, and warns if a file sets other options of it", async () => {
    const off = await cached(wordScanner("x"), {});
    for (let turn = 0; turn < 2; turn++) {
      expect((await off.post("/scan/prompt", { prompt: "a", details: true })).json()).not.toHaveProperty("cache");
    }
    expect(off.log.join("")).not.toContain("cached");
    const silent = await cached(wordScanner("x"), { cache: { enabled: false, ttl: 60 } });
    expect(silent.log.join("")).not.toContain("cached");
    const warned = await cached(wordScanner("x"), { cache: { ttl: 60 } });
    expect(warned.log.join("")).toContain("cache: not enabled; results are not cached");
  });

  it("rejects an invalid key without quoting it", async () => {
    vi.stubEnv("GUARD_CACHE_KEY", "CANARY");
    const made = createServer({ inputScanners: [{ type: "InvisibleText" }], ...ON });
    await expect(made).rejects.toMatchObject({ path: "GUARD_CACHE_KEY" });
    await expect(made).rejects.not.toThrow(/CANARY/);
    vi.stubEnv("GUARD_CACHE_KEY", `${"0".repeat(64)},${"1".repeat(64)}`);
    await expect(createServer({ inputScanners: [{ type: "InvisibleText" }], ...ON })).rejects.toThrow(/at most 1/);
    const app = await createServer({ inputScanners: [{ type: "InvisibleText" }] });
    onTestFinished(() => app.close());
  });
});
