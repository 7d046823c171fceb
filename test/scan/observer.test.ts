import { describe, expect, it } from "vitest";
import { scanConversation, scanPrompt } from "../../src/index.ts";
import type { ScanObserver } from "../../src/scan/observer.ts";
import { askingScanners, injectionScanner, scannerOf, waitingScanner, wordScanner } from "../server/fixtures.ts";

/** An observer that records its calls, without times. */
function keeping() {
  const told: unknown[][] = [];
  const observer: ScanObserver = {
    scannerStarted(start) {
      told.push(["started", start.name, start.type, start.chars]);
      return {
        modelAsked(model) {
          told.push(["asked", start.name, model]);
          return ({ timings, error }) => told.push(["answered", start.name, Object.keys(timings ?? {}), error]);
        },
        ended: ({ milliseconds, verdict, error }) => {
          expect(milliseconds).toBeGreaterThanOrEqual(0);
          told.push(["ended", start.name, verdict ?? error]);
        },
      };
    },
  };
  return { observer, told };
}

describe("an observer", () => {
  it("receives every scanner run, without the text", async () => {
    const { observer, told } = keeping();
    const scanners = [wordScanner("canary", { replacement: "bird" }), wordScanner("bird"), wordScanner("dog")];
    await scanPrompt(scanners, "a canary", { observer });
    expect(told).toEqual([
      ["started", "Word", "Word", 8],
      ["ended", "Word", { isValid: false, score: 1, findings: 1 }],
      ["started", "Word#2", "Word", 6],
      ["started", "Word#3", "Word", 6],
      ["ended", "Word#2", { isValid: false, score: 1, findings: 1 }],
      ["ended", "Word#3", { isValid: true, score: -1, findings: 0 }],
    ]);
    expect(JSON.stringify(told)).not.toContain("canary");
  });

  it("receives a model's answer once if scanners share it", async () => {
    const { observer, told } = keeping();
    const scanners = askingScanners("First", "Second");
    const { engineTiming } = await scanPrompt(scanners, "Thank you for the lovely flowers!", { observer });
    const models = Object.keys(engineTiming);
    expect(told.filter(([what]) => what === "asked").map(([, , model]) => model)).toEqual(models);
    expect(told.filter(([what]) => what === "answered").map(([, , timings]) => timings)).toEqual(
      models.map(() => ["queued", "tokenized", "inferred"]),
    );
  });

  it("receives failures by kind", async () => {
    const { observer, told } = keeping();
    const broken = scannerOf("Broken", async (text) => {
      throw new RangeError(text);
    });
    await expect(scanPrompt([broken], "a canary", { observer })).rejects.toThrow();
    await scanPrompt([broken], "a canary", { observer, onScannerError: "block" });
    expect(told.filter(([what]) => what === "ended")).toEqual([
      ["ended", "Broken", "RangeError"],
      ["ended", "Broken", "RangeError"],
    ]);
  });

  it("receives aborted scans", async () => {
    const { observer, told } = keeping();
    const { scanner, started } = waitingScanner();
    const stop = new AbortController();
    const scan = scanPrompt([scanner], "x", { observer, signal: stop.signal });
    await started;
    stop.abort();
    await expect(scan).rejects.toThrow();
    expect(told.at(-1)).toEqual(["ended", "Waiting", "AbortError"]);
  });

  it("receives all parts of a conversation", async () => {
    const { observer, told } = keeping();
    const messages = [
      { role: "user", content: "p=0.1" },
      { role: "user", content: "p=0.2" },
      { role: "tool", content: "p=0.99" },
    ];
    await scanConversation([injectionScanner()], messages, { observer });
    // Parts are scanned concurrently.
    const names = told.filter(([what]) => what === "started").map(([, name]) => name);
    expect(names.sort()).toEqual([
      "PromptInjection",
      "PromptInjection",
      "PromptInjection[tool]",
      "PromptInjection[window]",
    ]);
  });

  it("need not observe every scanner", async () => {
    const { isValid } = await scanPrompt([wordScanner("x")], "y", { observer: { scannerStarted: () => undefined } });
    expect(isValid).toBe(true);
  });

  it("never causes a pass if it throws", async () => {
    const observer: ScanObserver = {
      scannerStarted: () => ({
        ended() {
          throw new Error("of the observer");
        },
      }),
    };
    for (const onScannerError of ["throw", "block"] as const) {
      const call = scanPrompt([wordScanner("x")], "y", { observer, onScannerError });
      await expect(call).rejects.toThrow("of the observer");
    }
  });

  it("fails its own call only, if it throws at the start of a scanner beside another one", async () => {
    let started = 0;
    const observer: ScanObserver = {
      scannerStarted() {
        if (++started === 2) throw new Error("of the observer");
        return undefined;
      },
    };
    const slow = { ...wordScanner("x"), scan: () => new Promise<never>(() => {}) };
    // An unhandled rejection would end the process of this test.
    await expect(scanPrompt([slow, wordScanner("x")], "y", { observer })).rejects.toThrow("of the observer");
  });

  it("is rejected if it is not an observer", async () => {
    const observer = { started() {} } as unknown as ScanObserver;
    await expect(scanPrompt([], "x", { observer })).rejects.toMatchObject({ path: "observer" });
  });
});
