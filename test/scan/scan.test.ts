import { describe, expect, it } from "vitest";
import { scanOutput, scanPrompt } from "../../src/conversation/single-text.ts";
import { addon } from "../../src/native.ts";
import type { ScanContext, Scanner, ScannerVerdict, Verdict } from "../../src/scan/scanner.ts";
import { passed, wholeText } from "../../src/scan/scanner.ts";
import { Vault } from "../../src/scan/vault.ts";
import {
  BanSubstrings,
  InvisibleText,
  Regex,
  Secrets,
  TokenLimit,
} from "../../src/scanners/generated/input-scanners.ts";
import { Deanonymize } from "../../src/scanners/generated/output-scanners.ts";
import { GuardValidationError, ScannerError } from "../../src/support/errors.ts";
import { maskingScanner } from "../support/masking-scanner.ts";

/** A detection-only scanner that records the texts that it received. */
function spy(name: string, verdict: Partial<ScannerVerdict> = {}, wait = Promise.resolve()) {
  const seen: string[] = [];
  const prompts: (string | undefined)[] = [];
  const scanner: Scanner = {
    type: name,
    name,
    sanitizes: verdict.sanitized !== undefined,
    async scan(text, { prompt, signal }) {
      seen.push(text);
      prompts.push(prompt);
      await wait;
      signal?.throwIfAborted();
      return { isValid: true, score: -1, findings: [], coverage: wholeText(text), ...verdict };
    },
  };
  return { scanner, seen, prompts };
}

describe("scanPrompt", () => {
  it("passes the sanitized text on, in the order of the list", async () => {
    const last = spy("Last");
    const report = await scanPrompt(
      [
        new BanSubstrings({ substrings: ["fool"], redact: true }),
        new InvisibleText(),
        new Regex({ patterns: ["\\d{4}"] }),
        last.scanner,
      ],
      "You fool,\u200b my pin is 1234.",
    );
    expect(report.sanitizedPrompt).toBe("You [REDACTED], my pin is [REDACTED].");
    expect(last.seen).toEqual(["You [REDACTED], my pin is [REDACTED]."]);
    expect(Object.keys(report.resultsScore)).toEqual(["BanSubstrings", "InvisibleText", "Regex", "Last"]);
    expect(report.resultsValid).toEqual({ BanSubstrings: false, InvisibleText: false, Regex: false, Last: true });
    expect(report.isValid).toBe(false);
  });

  it("runs detection-only scanners between two rewriting ones concurrently", async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = spy("Slow", {}, gate);
    // This scanner would wait forever if the scanners ran one after the other.
    const releasing: Scanner = {
      type: "Releasing",
      name: "Releasing",
      sanitizes: false,
      async scan(text) {
        release();
        return { isValid: true, score: -1, findings: [], coverage: wholeText(text) };
      },
    };
    const report = await scanPrompt([slow.scanner, releasing], "text");
    expect(Object.keys(report.resultsScore)).toEqual(["Slow", "Releasing"]);
  });

  it("reports a repeated scanner under names of its own", async () => {
    const named = new BanSubstrings({ substrings: ["c"], name: "Names" });
    const report = await scanPrompt(
      [
        new BanSubstrings({ substrings: ["a"] }),
        new BanSubstrings({ substrings: ["b"] }),
        named,
        new BanSubstrings({ substrings: ["d"] }),
      ],
      "b c",
    );
    expect(report.resultsScore).toEqual({ BanSubstrings: -1, "BanSubstrings#2": 1, Names: 1, "BanSubstrings#3": -1 });
  });

  it("stops after the first failing scanner with failFast", async () => {
    const after = spy("After");
    const scanners = [new Regex({ patterns: ["x"] }), new BanSubstrings({ substrings: ["y"] }), spy("Beside").scanner];
    const report = await scanPrompt([...scanners, new TokenLimit({ limit: 1 }), after.scanner], "y z", {
      failFast: true,
    });
    expect(report.resultsScore).toEqual({ Regex: -1, BanSubstrings: 1 });
    expect(after.seen).toEqual([]);
  });

  it("skips suppressed scanners, by type or name", async () => {
    const list = () => [
      new BanSubstrings({ substrings: ["a"] }),
      new BanSubstrings({ substrings: ["a"] }),
      new Regex({ patterns: ["a"], name: "Letters" }),
    ];
    const names = async (suppress: string[]) => {
      const report = await scanPrompt(list(), "a", { suppress });
      return [Object.keys(report.resultsScore), report.coverage.suppressed];
    };
    expect(await names(["BanSubstrings"])).toEqual([["Letters"], ["BanSubstrings", "BanSubstrings#2"]]);
    expect(await names(["BanSubstrings#2"])).toEqual([["BanSubstrings", "Letters"], ["BanSubstrings#2"]]);
    expect(await names(["Regex"])).toEqual([["BanSubstrings", "BanSubstrings#2"], ["Letters"]]);
    expect(await names(["Letters", "Toxicity"])).toEqual([["BanSubstrings", "BanSubstrings#2"], ["Letters"]]);
  });

  it("reads the suppressed names once, however many scanners there are", async () => {
    let reads = 0;
    const suppress = new Proxy(["Toxicity", "Last"], {
      get(names, key) {
        if (key === "0") reads += 1;
        return Reflect.get(names, key);
      },
    });
    const report = await scanPrompt([spy("First").scanner, spy("Second").scanner, spy("Last").scanner], "a", {
      suppress,
    });
    expect([Object.keys(report.resultsScore), reads]).toEqual([["First", "Second"], 1]);
  });

  it("rejects a single name as a list of suppressed ones", async () => {
    const call = scanPrompt([spy("A").scanner], "a", { suppress: "A" as never });
    await expect(call).rejects.toMatchObject({ code: "GUARD_VALIDATION", path: "suppress" });
  });

  it("rejects when a scanner throws: a failed check never passes", async () => {
    const broken: Scanner = {
      type: "Broken",
      name: "Broken",
      sanitizes: false,
      scan: () => Promise.reject(new Error("no disk")),
    };
    const call = scanPrompt([spy("Fine").scanner, broken], "text");
    await expect(call).rejects.toThrow(ScannerError);
    await expect(call).rejects.toMatchObject({ scanner: "Broken", message: "Broken: no disk", code: "GUARD_SCANNER" });
    const report = await scanPrompt([spy("Fine").scanner, broken], "text", { onScannerError: "block" });
    expect(report).toMatchObject({ isValid: false, resultsScore: { Fine: -1, Broken: 1 } });
    expect(report.coverage).toMatchObject({ failed: ["Broken"], truncated: true, scannedChars: 0 });
  });

  it("calls the method that a program puts in the place of a scanner's own scan", async () => {
    class Strict extends BanSubstrings {
      override async scan(text: string, context = {}): Promise<Verdict> {
        const verdict = await super.scan(text, context);
        return { ...verdict, isValid: false, score: 1 };
      }
    }
    const strict = new Strict({ substrings: ["keylogger"] });
    const patched = new BanSubstrings({ substrings: ["keylogger"] });
    patched.scan = (text) => strict.scan(text);
    for (const scanner of [strict, patched]) {
      expect(await scanPrompt([scanner], "a harmless text")).toMatchObject({ isValid: false });
    }
  });

  it("gives scanners a signal that they may replace by their own", async () => {
    const given: ScanContext[] = [];
    const replacing: Scanner = {
      ...{ type: "Replacing", name: "Replacing", sanitizes: false },
      async scan(text, context) {
        given.push(context);
        context.signal = AbortSignal.any([context.signal as AbortSignal, AbortSignal.timeout(60_000)]);
        expect({ ...context }.signal).toBe(context.signal);
        return passed(text);
      },
    };
    const { signal } = new AbortController();
    expect((await scanPrompt([replacing], "text", { signal })).isValid).toBe(true);
    expect(given[0]?.signal?.aborted).toBe(false);
  });

  it("checks for an aborted signal before it begins, even if no scanner is slow", async () => {
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(scanPrompt([new BanSubstrings({ substrings: ["a"] })], "a", { signal })).rejects.toThrow("too late");
  });

  it("rejects at once when a scanner throws, whatever its position, and stops the others", async () => {
    const stopped: string[] = [];
    const endless: Scanner = {
      type: "Endless",
      name: "Endless",
      sanitizes: false,
      scan: (_text, { signal }) => new Promise(() => signal?.addEventListener("abort", () => stopped.push("Endless"))),
    };
    const broken = { ...endless, name: "Broken", scan: () => Promise.reject(new Error("no disk")) };
    await expect(scanPrompt([endless, broken], "text")).rejects.toMatchObject({ scanner: "Broken" });
    expect(stopped).toEqual(["Endless"]);
  });

  it("reports the first failure in the order of the list with failFast, not the fastest", async () => {
    const slow = spy("Slow", { isValid: false, score: 1 }, new Promise((resolve) => setImmediate(resolve)));
    const broken = { ...slow.scanner, name: "Broken", scan: () => Promise.reject(new Error("no disk")) };
    const report = await scanPrompt([slow.scanner, broken], "text", { failFast: true });
    expect(report.resultsScore).toEqual({ Slow: 1 });
    await expect(scanPrompt([broken, slow.scanner], "text", { failFast: true })).rejects.toThrow(ScannerError);
  });

  it.each([
    undefined,
    null,
    {},
    { isValid: 1, score: -1 },
    { isValid: true, score: Number.NaN },
    { isValid: true, score: -1 },
  ])("does not accept %j as a verdict", async (answer) => {
    const odd = { type: "Odd", name: "Odd", sanitizes: false, scan: async () => answer } as unknown as Scanner;
    await expect(scanPrompt([odd], "text")).rejects.toThrow(/Odd: .*verdict/);
  });

  it("passes the empty text everywhere", async () => {
    const report = await scanPrompt(
      [new Regex({ patterns: ["x"], isBlocked: false }), new TokenLimit(), new InvisibleText()],
      "",
    );
    expect(report).toMatchObject({
      isValid: true,
      resultsScore: { Regex: -1, TokenLimit: -1, InvisibleText: -1 },
      sanitizedPrompt: "",
    });
  });

  it("is aborted by its signal", async () => {
    const never = spy("Never", {}, new Promise<void>(() => {}));
    const controller = new AbortController();
    const call = scanPrompt([never.scanner], "text", { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
  });

  it("is aborted even if no scanner observes the signal", async () => {
    const controller = new AbortController();
    const deaf = {
      ...{ type: "Deaf", name: "Deaf", sanitizes: false },
      async scan(text: string) {
        controller.abort(new Error("enough"));
        return passed(text);
      },
    };
    await expect(scanPrompt([deaf], "text", { signal: controller.signal })).rejects.toThrow("enough");
  });

  it("is aborted even if a scanner never settles", async () => {
    const controller = new AbortController();
    let started = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const endless: Scanner = {
      ...{ type: "Endless", name: "Endless", sanitizes: false },
      scan: () => {
        started();
        return new Promise(() => {});
      },
    };
    const call = scanPrompt([endless], "text", { signal: controller.signal });
    await running;
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
  });

  it("releases everything that it started when it is aborted", async () => {
    const controller = new AbortController();
    const text = "key=".repeat(250_000);
    const calls = Array.from({ length: 8 }, (_, index) =>
      scanOutput([new Secrets()], "", `${index} ${text}`, { signal: controller.signal }),
    );
    await expect.poll(() => addon.ruleTasks().running).toBeGreaterThan(0);
    const reason = new Error("nobody waits");
    controller.abort(reason);
    await Promise.all(calls.map((call) => expect(call).rejects.toBe(reason)));
    await expect.poll(() => addon.ruleTasks()).toEqual({ waiting: 0, running: 0 });
    // The interrupted task left the addon in a usable state.
    const report = await scanOutput([new Secrets()], "", `${text} password = "Tr0ub4dor&3x9"`.slice(-9000));
    expect(report.isValid).toBe(false);
  });
});

describe("scanOutput", () => {
  it("passes the prompt to scanners and sanitizes the output", async () => {
    const last = spy("Last");
    const report = await scanOutput(
      [new Regex({ patterns: ["key-\\w+"] }), last.scanner],
      "What is the key?",
      "It is key-abc.",
    );
    expect(report).toMatchObject({
      sanitizedOutput: "It is [REDACTED].",
      isValid: false,
      resultsScore: { Regex: 1, Last: -1 },
    });
    expect(last.prompts).toEqual(["What is the key?"]);
  });
});

describe("arguments", () => {
  const fine = spy("Fine").scanner;
  it.each([
    ["scanPrompt", "prompt", () => scanPrompt([], undefined as never)],
    ["scanPrompt", "prompt", () => scanPrompt([fine], 42 as never)],
    ["scanPrompt", "scanners", () => scanPrompt(fine as never, "x")],
    ["scanPrompt", "scanners", () => scanPrompt(undefined as never, "x")],
    ["scanPrompt", "scanners.1", () => scanPrompt([fine, undefined as never], "x")],
    ["scanOutput", "prompt", () => scanOutput([fine], undefined as never, "x")],
    ["scanOutput", "output", () => scanOutput([], "x", undefined as never)],
    ["scanOutput", "output", () => scanOutput([fine], "", 42 as never)],
    ["scanOutput", "scanners", () => scanOutput("Regex" as never, "x", "y")],
  ])("of another type are rejected by %s at %s", async (_name, path, call) => {
    const error: unknown = await call().catch((reason) => reason);
    expect(error).toBeInstanceOf(GuardValidationError);
    expect((error as GuardValidationError).path).toBe(path);
  });

  it("may be empty", async () => {
    expect(await scanOutput([], "", "")).toMatchObject({ isValid: true, sanitizedOutput: "" });
  });

  it.each(["ConversationRisk", "Fine[window]", "[tool]", "__proto__"])(
    "include no scanner with the name %s",
    async (name) => {
      const call = scanPrompt([fine, { ...fine, name }], "x");
      await expect(call).rejects.toMatchObject({ code: "GUARD_VALIDATION", path: "scanners.1.name" });
      expect(() => new InvisibleText({ name })).toThrow(/^name: expected another name: ConversationRisk/);
    },
  );

  it.each(["ConversationRisk#2", "Fine[window", "[tool]s", "constructor"])(
    "may include a scanner with the name %s",
    async (name) => {
      expect((await scanPrompt([{ ...fine, name }], "x")).resultsValid).toEqual({ [name]: true });
    },
  );
});

describe("the vault of a call", () => {
  const mask = maskingScanner();
  const scanners = [new Deanonymize()];
  const answer = "Dear [VALUE_1] and [VALUE_2]";

  it("transfers values from the prompt to the output, and no others", async () => {
    const [ann, bob] = [new Vault(), new Vault()];
    const prompts = await Promise.all([
      scanPrompt([mask], "<Ann> and <Zoë>", { vault: ann }),
      scanPrompt([mask], "<Bob> and <Émile>", { vault: bob }),
    ]);
    expect(prompts.map(({ sanitizedPrompt }) => sanitizedPrompt)).toEqual(Array(2).fill("[VALUE_1] and [VALUE_2]"));
    const outputs = await Promise.all([ann, bob].map((vault) => scanOutput(scanners, "", answer, { vault })));
    expect(outputs.map(({ sanitizedOutput }) => sanitizedOutput)).toEqual(["Dear Ann and Zoë", "Dear Bob and Émile"]);
  });

  it("is optional: without it nothing is restored", async () => {
    await scanPrompt([mask], "<Ann>", { vault: new Vault() });
    expect((await scanPrompt([mask], "<Bob>")).sanitizedPrompt).toBe("[VALUE_1]");
    const report = await scanOutput(scanners, "", answer);
    expect(report).toMatchObject({ sanitizedOutput: answer, isValid: true, findings: { Deanonymize: [] } });
  });

  it("must be a vault", async () => {
    const call = scanPrompt([mask], "x", { vault: [["[VALUE_1]", "Ann"]] as never });
    await expect(call).rejects.toMatchObject({ code: "GUARD_VALIDATION", path: "vault" });
  });
});
