import { describe, expect, it } from "vitest";
import { LocalGuard } from "../../src/guard/local-guard.ts";
import { output } from "../../src/index.ts";
import { passed, type Scanner, wholeText } from "../../src/scan/scanner.ts";
import { Vault } from "../../src/scan/vault.ts";
import { Deanonymize } from "../../src/scanners/generated/output-scanners.ts";
import { serviceWith } from "../support/service.ts";

const PROSE = "The sun is warm today. Birds sing in the old park. ";
const SENTENCES = { streaming: { reads: "sentences", overlap: 0 } } as const;

function scanner(more: Partial<Scanner> = {}): Scanner {
  return { type: "Mine", name: "Mine", sanitizes: false, ...SENTENCES, scan: async (text) => passed(text), ...more };
}

/** A scanner that fails texts with a word. */
function failing(word: string): Scanner {
  return scanner({
    scan: async (text) =>
      text.includes(word) ? { isValid: false, score: 1, findings: [], coverage: wholeText(text) } : passed(text),
  });
}

describe("ScanService.outputStream", () => {
  it("releases text while it arrives, and the report at the end", async () => {
    const { service, request } = await serviceWith({
      output: [scanner(), scanner({ name: "Whole", streaming: undefined as never })],
    });
    const stream = service.outputStream("?", request());
    expect(stream.waiting).toBeUndefined();
    expect(await stream.push("The sun is ")).toEqual({ text: "" });
    expect(stream.waiting).toBe(2000);
    expect(await stream.flush()).toEqual({ text: "The sun is" });
    expect(stream.waiting).toBeUndefined();
    expect(await stream.push("warm today. Birds sing in")).toEqual({ text: " warm today." });
    const { text, report } = await stream.end();
    expect(text).toBe(" Birds sing in");
    expect(report).toMatchObject({
      outcome: "passed",
      isValid: true,
      atEnd: ["Whole"],
      resultsScore: { Mine: -1, Whole: -1 },
    });
    await expect(stream.push("more")).rejects.toMatchObject({ code: "GUARD_CLOSED" });
  });

  it("ends with the report as soon as a check fails", async () => {
    const { service, request } = await serviceWith({ output: [failing("evil")] });
    const stream = service.outputStream("?", request());
    expect(await stream.push(PROSE)).toMatchObject({ text: "The sun is warm today." });
    const { text, report } = await stream.push("Then comes an evil plan. And so on. ");
    expect(text).toBe("");
    expect(report).toMatchObject({ outcome: "blocked", isValid: false, resultsScore: { Mine: 1 } });
    expect(service.running).toBe(0);
  });

  it("accepts the options of streams", async () => {
    const { service, request } = await serviceWith(
      { output: [scanner()] },
      { stream: { holdbackChars: 40, holdbackMs: 5 } },
    );
    const stream = service.outputStream("?", request());
    const { text } = await stream.push("and so on and on ".repeat(6));
    expect(text.length).toBeGreaterThan(40);
    expect(stream.waiting).toBe(5);
  });

  it("counts an open stream as a scan until it ends", async () => {
    const { service, request } = await serviceWith({ output: [failing("evil")] }, { maxScans: 1 });
    const first = service.outputStream("?", request());
    const second = service.outputStream("?", request());
    await first.push("a");
    expect(service.running).toBe(1);
    await expect(second.push("a")).rejects.toMatchObject({ code: "GUARD_OVERLOADED" });
    await expect(service.output("?", "a", request())).rejects.toMatchObject({ code: "GUARD_OVERLOADED" });
    await first.end();
    expect(service.running).toBe(0);
    const controller = new AbortController();
    const third = service.outputStream("?", request({ signal: controller.signal }));
    await third.push("a");
    controller.abort(new Error("the client left"));
    expect(service.running).toBe(0);
    await expect(third.push("b")).rejects.toThrow("the client left");
    await expect(third.end()).rejects.toThrow("the client left");
  });

  it("ends streams when it closes", async () => {
    const { service, request } = await serviceWith({ output: [scanner()] });
    const stream = service.outputStream("?", request());
    await stream.push("a");
    await service.close();
    expect(service.running).toBe(0);
    await expect(stream.push("b")).rejects.toMatchObject({ code: "GUARD_CLOSED" });
    await expect(service.outputStream("?", request()).push("b")).rejects.toMatchObject({ code: "GUARD_CLOSED" });
  });

  it("limits the time of each step, but not the time between them", async () => {
    const slow = scanner({
      scan: (_, { signal }) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const { service, request } = await serviceWith({ output: [slow] }, { outputTimeout: 50 });
    const stream = service.outputStream("?", request());
    await stream.push("The sun is");
    await new Promise((resolve) => setTimeout(resolve, 80));
    await stream.push(" warm");
    await expect(stream.push(" today, and birds sing. Now it ")).rejects.toMatchObject({ code: "GUARD_TIMEOUT" });
    expect(service.running).toBe(0);
  });

  it("blocks at once if something is not scanned and full coverage is required", async () => {
    const { service, request } = await serviceWith(
      { output: [scanner(), scanner({ name: "Other", type: "Other" })] },
      { requireFullCoverage: true },
    );
    const stream = service.outputStream("?", request({ suppress: ["Other"] }));
    expect(await stream.push(PROSE)).toMatchObject({ text: "", report: { outcome: "blocked", isValid: false } });
    const all = service.outputStream("?", request());
    expect(await all.push(PROSE)).toEqual({ text: "The sun is warm today." });
    expect((await all.end()).report).toMatchObject({ outcome: "passed" });
  });

  it("blocks with on_scanner_error: block if a scanner throws", async () => {
    const broken = scanner({ scan: () => Promise.reject(new Error("no")) });
    const { service, request } = await serviceWith({ output: [broken] }, { onScannerError: "block" });
    const step = await service.outputStream("?", request()).push(PROSE);
    expect(step).toMatchObject({ text: "", report: { outcome: "blocked", coverage: { failed: ["Mine"] } } });
  });

  it("releases the original text if rewriting is off", async () => {
    const { service, request } = await serviceWith({ output: [new output.Secrets()] }, { masking: ["Secrets"] });
    const secret = `Use ghp_${"aB3dE6gH9j".repeat(4).slice(0, 36)} here, please. Thanks a lot for it. `;
    const rewritten = service.outputStream("?", request());
    expect((await rewritten.push(secret)).text).toContain("Use ****** here, please.");
    // No scanner removes the secret, so the text must be blocked.
    const failing = await service.outputStream("?", request({ rewrite: false })).push(secret);
    expect(failing).toMatchObject({ text: "", report: { outcome: "blocked" } });
    const stream = service.outputStream("?", request({ rewrite: false }));
    const harmless = "Use [REDACTED_KEY_1] here, please. Thanks a lot for it. ";
    const texts = [await stream.push(harmless), await stream.end()].map(({ text }) => text);
    expect(texts.join("")).toBe(harmless);
  });

  it("restores placeholders in the answers of a guard, each choice by itself", async () => {
    const { service } = await serviceWith({ output: [new Deanonymize()] });
    const call = new LocalGuard(service).call({ vault: new Vault([["[REDACTED_PERSON_1]", "Ada"]]) });
    const [one, two] = [call.answerStream(), call.answerStream()];
    expect((await one.push("Dear [REDACTED_PER")).text).toBe("");
    expect((await two.push("Hi [REDACTED_PERSON_1], how are you today? Fine, ")).text).toBe(
      "Hi Ada, how are you today?",
    );
    expect((await one.push("SON_1], thank you. It is good. Bye")).text).toBe("Dear Ada, thank you. It is good.");
    expect(await one.end()).toMatchObject({ text: " Bye", report: { outcome: "passed", atEnd: [] } });
    expect(await two.end()).toMatchObject({ text: " Fine, ", report: { coverage: { chars: 49 } } });
  });
});
