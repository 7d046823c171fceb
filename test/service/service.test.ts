import { describe, expect, it, onTestFinished } from "vitest";
import { passed, type Scanner } from "../../src/scan/scanner.ts";
import { SOURCES } from "../../src/scan/source.ts";
import { Vault } from "../../src/scan/vault.ts";
import { ScanService } from "../../src/service/service.ts";
import type { ScanRequest, ScanServiceOptions } from "../../src/service/service-types.ts";
import { GuardError } from "../../src/support/errors.ts";
import { scannerOf, waitingScanner, wordScanner } from "../server/fixtures.ts";

const OPTIONS: ScanServiceOptions = {
  promptTimeout: 30_000,
  outputTimeout: 30_000,
  maxScans: 10,
  maxMessages: 10,
  lazyLoad: false,
  failFast: false,
  onScannerError: "throw",
  requireFullCoverage: false,
  conversation: { window: 3, scanToolMessages: true, risk: { enabled: false } },
};

async function serviceOf(input: Scanner[], options: Partial<ScanServiceOptions> = {}): Promise<ScanService> {
  const service = new ScanService({ input, output: input }, { ...OPTIONS, ...options });
  onTestFinished(() => service.close());
  await service.load();
  return service;
}

function request(more: Partial<ScanRequest> = {}): ScanRequest {
  const { signal } = new AbortController();
  return { suppress: [], offsets: "utf16", rewrite: true, vault: new Vault(), signal, ...more };
}

describe("ScanService", () => {
  it("scans prompts, outputs and conversations, and returns rewritten texts", async () => {
    const service = await serviceOf([wordScanner("secret", { replacement: "***" })]);
    expect(await service.prompt("a secret", request())).toMatchObject({ text: "a ***", isValid: false });
    expect(await service.output("?", "a secret", request())).toMatchObject({ text: "a ***", isValid: false });
    const messages = [{ role: "user", content: "a secret" }];
    expect(await service.conversation({ messages }, request())).toMatchObject({ text: "a ***", isValid: false });
    expect(await service.prompt("a secret", request({ rewrite: false }))).toMatchObject({ text: "a secret" });
  });

  it("scans documents with the scanners of their source", async () => {
    const service = await serviceOf([wordScanner("bad", { conversation: { sources: ["tool"] } })]);
    expect(await service.documents(["good", "bad", "good"], request())).toMatchObject({
      isValid: false,
      resultsValid: { Word: false },
      documents: [{ isValid: true }, { isValid: false }, { isValid: true }],
    });
    // No scanner reads texts of the source user, so the report claims no coverage.
    const unread = await service.documents(["bad", "😀"], request({ offsets: "codePoint" }), { source: "user" });
    const unscanned = (user: number) => ({ scannedChars: 0, unscannedSources: { user } });
    expect(unread.coverage).toMatchObject(unscanned(4));
    expect(unread.documents?.map(({ coverage }) => coverage)).toMatchObject([unscanned(3), unscanned(1)]);
    const strict = await serviceOf([], { requireFullCoverage: true });
    expect(await strict.documents(["bad", ""], request())).toMatchObject({
      isValid: false,
      documents: [{ isValid: false }, { isValid: true }],
    });
    await expect(service.documents(Array(11).fill("x"), request())).rejects.toMatchObject({ code: "GUARD_TOO_LARGE" });
  });

  it("reports what the model reads elsewhere, and refuses it on request", async () => {
    const chat = {
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }],
      fields: { previous_response_id: "resp_1" },
    };
    const coverage = { stateElsewhere: ["file_search", "previous_response_id"] };
    const lenient = await serviceOf([wordScanner("bad")]);
    expect(await lenient.conversation(chat, request())).toMatchObject({ isValid: true, outcome: "passed", coverage });
    for (const options of [{ stateful: "refuse" }, { requireFullCoverage: true }] as const) {
      const strict = await serviceOf([wordScanner("bad", { conversation: { sources: SOURCES } })], options);
      expect(await strict.conversation(chat, request())).toMatchObject({
        isValid: false,
        outcome: "blocked",
        coverage,
      });
      const { tools: _, fields: __, ...alone } = chat;
      expect(await strict.conversation(alone, request())).toMatchObject({ isValid: true, outcome: "passed" });
    }
  });

  it("counts in code points on request", async () => {
    const service = await serviceOf([wordScanner("secret")]);
    expect((await service.prompt("😀 secret", request())).findings.Word?.[0]).toMatchObject({ start: 3 });
    expect((await service.prompt("😀 secret", request({ offsets: "codePoint" }))).findings.Word?.[0]).toMatchObject({
      start: 2,
    });
  });

  it("rejects scans before its models are loaded, without them, and when it is closed", async () => {
    const waiting = new ScanService({ input: [], output: [] }, OPTIONS);
    await expect(waiting.prompt("x", request())).rejects.toMatchObject({ code: "GUARD_STARTING" });
    await waiting.load();
    expect(waiting.notReady).toBeUndefined();
    await waiting.close();
    await expect(waiting.prompt("x", request())).rejects.toMatchObject({ code: "GUARD_CLOSED" });

    const broken = wordScanner("x", { load: () => Promise.reject(new Error("no file")) });
    const service = new ScanService({ input: [broken], output: [] }, OPTIONS);
    await expect(service.load()).rejects.toThrow("Word could not be loaded: no file");
    await expect(service.prompt("x", request())).rejects.toMatchObject({
      code: "GUARD_UNAVAILABLE",
      message: "The scanner Word could not be loaded.",
    });
  });

  it("loads its scanners concurrently, and reports the first failure", async () => {
    const begun: string[] = [];
    const scanner = (name: string, outcome: Promise<void>) => ({
      ...wordScanner("x", {
        load: () => {
          begun.push(name);
          return outcome;
        },
      }),
      name,
    });
    let settle = () => {};
    const slow = new Promise<void>((_, reject) => {
      settle = () => reject(new Error("no room"));
    });
    const input = [scanner("Slow", slow), scanner("Quick", Promise.reject(new Error("no file")))];
    const loading = new ScanService({ input, output: [] }, OPTIONS).load();
    expect(begun).toEqual(["Slow", "Quick"]);
    settle();
    await expect(loading).rejects.toThrow("Slow could not be loaded: no room");
  });

  it("rejects scans after a failed self-test", async () => {
    let answer: Error | undefined;
    const check = async () => {
      if (answer) throw answer;
    };
    const told: unknown[] = [];
    const service = await serviceOf([wordScanner("x", { selfTest: check })]);
    service.onFailedSelfTest((error) => told.push(error));
    await service.load();
    await service.selfTest();
    answer = new GuardError("GUARD_OVERLOADED", "The queue is full.");
    await service.selfTest();
    expect(service.notReady).toBeUndefined();
    answer = new Error("got 0.01, expected 0.99");
    await expect(service.selfTest()).rejects.toThrow("a self-test failed: got 0.01, expected 0.99");
    expect(told).toEqual([answer]);
    answer = undefined;
    await service.selfTest();
    await expect(service.prompt("y", request())).rejects.toMatchObject({ code: "GUARD_UNAVAILABLE" });
  });

  it("repeats the self-test periodically, and those of the models before it is ready", async () => {
    let isWrong = false;
    const selfTest = async () => {
      if (isWrong) throw new Error("wrong");
    };
    const service = await serviceOf([wordScanner("x")], { selfTest, selfTestInterval: 1, lazyLoad: false });
    await service.load();
    expect(service.notReady).toBeUndefined();
    const failed = new Promise((resolve) => service.onFailedSelfTest(resolve));
    isWrong = true;
    await failed;
    expect(service.notReady).toMatchObject({ code: "GUARD_UNAVAILABLE" });

    const broken = new ScanService({ input: [], output: [] }, { ...OPTIONS, selfTest });
    await expect(broken.load()).rejects.toThrow("a self-test failed: wrong");
    await expect(broken.prompt("x", request())).rejects.toMatchObject({ code: "GUARD_UNAVAILABLE" });
  });

  it("aborts a scan at its timeout, and a scan without a caller", async () => {
    const { scanner, aborted } = waitingScanner();
    const service = await serviceOf([scanner], { promptTimeout: 20 });
    const late = service.prompt("x", request());
    await expect(late).rejects.toBeInstanceOf(GuardError);
    await expect(late).rejects.toMatchObject({
      code: "GUARD_TIMEOUT",
      message: "The scan took longer than 0.02 s.",
    });
    await aborted;
    const gone = new AbortController();
    const left = service.output("?", "x", request({ signal: gone.signal }));
    gone.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
  });

  it("aborts running scans when it closes", async () => {
    const { scanner, started } = waitingScanner({ heeds: false });
    const service = await serviceOf([scanner]);
    const scan = service.prompt("x", request());
    scan.catch(() => {});
    await started;
    expect(service.running).toBe(1);
    await service.close();
    await expect(scan).rejects.toMatchObject({ code: "GUARD_CLOSED" });
  });

  it("limits the number of running scans, including abandoned ones", async () => {
    const { scanner, started, release } = waitingScanner({ heeds: false });
    const service = await serviceOf([scanner], { maxScans: 1, promptTimeout: 20 });
    // The expectation is attached before the scan fails, so that the rejection is handled.
    const first = expect(service.prompt("x", request())).rejects.toMatchObject({ code: "GUARD_TIMEOUT" });
    await started;
    await expect(service.prompt("x", request())).rejects.toMatchObject({ code: "GUARD_OVERLOADED" });
    await first;
    await expect(service.prompt("x", request())).rejects.toMatchObject({ code: "GUARD_OVERLOADED" });
    release();
    await expect.poll(() => service.running).toBe(0);
    expect(await service.prompt("x", request())).toMatchObject({ isValid: true });
  });

  it("limits the messages and texts of a conversation, and reads its content once", async () => {
    const service = await serviceOf([scannerOf("Any", async (text) => passed(text))], { maxMessages: 2 });
    let reads = 0;
    const message = {
      role: "user",
      get content() {
        reads++;
        return "hi";
      },
    };
    expect(await service.conversation({ messages: [message] }, request())).toMatchObject({ isValid: true });
    expect(reads).toBe(1);
    const results = { role: "user", content: ["a", "b", "c"].map((content) => ({ type: "tool_result", content })) };
    for (const messages of [[message, message, message], [results]]) {
      await expect(service.conversation({ messages } as never, request())).rejects.toMatchObject({
        code: "GUARD_TOO_LARGE",
        message: "A conversation may have at most 2 messages (app.max_messages).",
      });
    }
  });

  it("caches verdicts per caller, risk scores included", async () => {
    const asked: string[] = [];
    const scanner = scannerOf("Any", async (text) => {
      asked.push(`scan ${text}`);
      return passed(text);
    });
    const scoringFunction = (text: string) => {
      asked.push(`score ${text}`);
      return 0;
    };
    const conversation = { ...OPTIONS.conversation, window: 1, risk: { enabled: true, scoringFunction } };
    const service = await serviceOf([scanner], { conversation });
    const call = async (caller?: string) => {
      asked.length = 0;
      await service.conversation({ messages: [{ role: "user", content: "a" }] }, request({ caller }));
      return asked.toSorted();
    };
    const everything = ["scan a", "score a"];
    expect(await call("ann")).toEqual(everything);
    expect(await call("bob")).toEqual(everything);
    expect(await call()).toEqual(everything);
    for (const caller of ["ann", "bob", undefined]) expect(await call(caller)).toEqual([]);
  });

  it("requires a scanner with a probability of an attack for the risk of a conversation", () => {
    const conversation = { ...OPTIONS.conversation, risk: { enabled: true } };
    expect(() => new ScanService({ input: [], output: [] }, { ...OPTIONS, conversation })).toThrow(
      expect.objectContaining({ path: "conversation.risk.enabled" }),
    );
  });
});
