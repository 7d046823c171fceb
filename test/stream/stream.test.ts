import { describe, expect, it } from "vitest";
import { scanOutput } from "../../src/conversation/single-text.ts";
import { output, scanOutputStream } from "../../src/index.ts";
import { passed, type Scanner, type Verdict, wholeText } from "../../src/scan/scanner.ts";
import { Vault } from "../../src/scan/vault.ts";
import { InvisibleText } from "../../src/scanners/generated/input-scanners.ts";
import { Deanonymize } from "../../src/scanners/generated/output-scanners.ts";
import type { StreamScanOptions } from "../../src/stream/scan-output-stream.ts";

/** Splits a text into pieces of a given length. */
function pieces(text: string, length = 4): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, at) => text.slice(at * length, (at + 1) * length));
}

async function streamed(scanners: readonly Scanner[], source: Iterable<string>, options: StreamScanOptions = {}) {
  const scanned = scanOutputStream(scanners, "What is new?", source, options);
  const texts: string[] = [];
  for await (const text of scanned) texts.push(text);
  return { texts, text: texts.join(""), report: await scanned.report };
}

/** A scanner that fails texts with a word, and optionally removes the word. */
function wordScanner(word: string, more: Partial<Scanner> = {}): Scanner & { read: string[] } {
  const read: string[] = [];
  return {
    type: "Word",
    name: "Word",
    sanitizes: false,
    read,
    async scan(text): Promise<Verdict> {
      read.push(text);
      const start = text.indexOf(word);
      if (start < 0) return passed(text);
      const finding = { start, end: start + word.length, type: "word", score: 1 };
      const sanitized = more.sanitizes ? { sanitized: text.replaceAll(word, "***") } : {};
      return {
        isValid: false,
        score: 1,
        probability: 0.9,
        findings: [finding],
        coverage: wholeText(text),
        ...sanitized,
      };
    },
    ...more,
  };
}

const SENTENCES = { streaming: { reads: "sentences", overlap: 0 } } as const;
const SPANS = { streaming: { reads: "spans", span: 16 } } as const;
const PROSE = "The sun is warm today. Birds sing in the old park. A boat goes by, and children wave. ";

describe("scanOutputStream", () => {
  it("does not block the rest for a name that was shown and that only the scan of the whole finds", async () => {
    const scanner: Scanner = {
      ...{ type: "Names", name: "Names", sanitizes: true },
      streaming: { reads: "spans", span: 8, byModel: true },
      async scan(text, { arriving = false }) {
        const names = arriving ? /Ann/g : /Ann|Bob/g;
        const findings = [...text.matchAll(names)].map(({ 0: found, index }) => {
          return { start: index, end: index + found.length, type: "name", score: 1, text: found };
        });
        if (findings.length === 0) return passed(text);
        return { ...passed(text), isValid: false, score: 1, findings, sanitized: text.replaceAll(names, "***") };
      },
    };
    const read = async (text: string) => {
      const { texts, report } = await streamed([scanner], pieces(text), { masking: ["Names"] });
      return [texts.join(""), report.outcome, report.findings.Names?.length];
    };
    expect(await read("Ann sings. Bob sings. We all sing along. It is fine.")).toEqual([
      ...["*** sings. Bob sings. We all sing along. It is fine.", "masked", 2],
    ]);
    // The name was not released yet, so it is removed.
    expect(await read("We all sing along. It is fine. Bob")).toEqual([
      ...["We all sing along. It is fine. ***", "masked", 1],
    ]);
    const [shown, outcome] = await read("Ann sings. Bob sings. We all sing along, says Bob");
    expect([shown, outcome]).toEqual(["*** sings. Bob sings.", "blocked"]);
    expect((await read("Bob sings. We all sing along. It is fine."))[1]).toBe("blocked");
  });

  it("rescans a failing sentence with the text after it, if its verdict depends on that", async () => {
    const alone = wordScanner("sun", { streaming: { reads: "sentences", overlap: 100 } });
    const scanner: Scanner = {
      ...alone,
      scan: async (text, context) => (text.includes("boat") ? passed(text) : alone.scan(text, context)),
    };
    const { texts, report } = await streamed([scanner], pieces(PROSE));
    expect([texts.join(""), report.outcome, report.isValid]).toEqual([PROSE, "passed", true]);

    const sunny = "The sun is warm today. ".repeat(100);
    let taken = 0;
    function* source() {
      for (const piece of pieces(sunny)) {
        taken += piece.length;
        yield piece;
      }
    }
    const blocked = await streamed([scanner], source());
    expect([blocked.texts.join(""), blocked.report.outcome]).toEqual(["", "blocked"]);
    expect(taken).toBeLessThan(600);
    // The end of a long answer is scanned too.
    const long = await streamed([scanner], pieces(`${"Rain. ".repeat(30)}The sun.`), { wholeChars: 20 });
    expect(long).toMatchObject({ report: { outcome: "blocked" } });
    expect(long.texts.join("")).not.toContain("sun");
  });

  it("releases sentences as they end, and reports the findings at the end", async () => {
    const { texts, report } = await streamed([wordScanner("evil", SENTENCES)], pieces(PROSE));
    expect(texts).toEqual([
      "The sun is warm today.",
      " Birds sing in the old park.",
      " A boat goes by, and children wave. ",
    ]);
    expect(report).toMatchObject({ outcome: "passed", isValid: true, resultsScore: { Word: -1 }, atEnd: [] });
  });

  it("accepts pieces that end anywhere, also within a character", async () => {
    const text = "Well done 🎉👩‍👩‍👧! 再见，朋友。 Ещё раз: да… ok";
    expect((await streamed([wordScanner("evil", SPANS)], text.split(""))).text).toBe(text);
    expect((await streamed([], [])).report).toMatchObject({ outcome: "passed", coverage: { chars: 0 } });
  });

  it("passes whole characters to scanners, also without words or sentences", async () => {
    const texts = [
      "👨‍👩‍👧‍👦🇩🇪👍🏽❤️‍🔥".repeat(400),
      "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}".repeat(800),
      "क्‍ष".repeat(3000),
    ];
    for (const text of [...texts, `${"(A ".repeat(6000)}é`]) {
      const { text: given, report } = await streamed([new InvisibleText()], pieces(text, 7));
      expect(report.outcome).toBe("passed");
      expect(given === text).toBe(true);
    }
  });

  it("restores the same in JSON as elsewhere, and is not blocked at the end", async () => {
    const vault = new Vault([["[REDACTED_PERSON_1]", 'Ann "Boss" Lee']]);
    const text = `{"text": "${PROSE.repeat(4)}[REDACTED_PERSON_1] came. ${PROSE.repeat(4)}"}`;
    const { text: given, report } = await streamed([new Deanonymize({ vault })], pieces(text));
    expect(report.outcome).toBe("passed");
    expect(given).toBe(text.replace("[REDACTED_PERSON_1]", 'Ann "Boss" Lee'));
  });

  it("ends at a failing sentence, and releases none of it", async () => {
    let taken = 0;
    function* source() {
      for (const piece of pieces(`${PROSE}Then it plans an evil deed. ${PROSE.repeat(50)}`)) {
        taken++;
        yield piece;
      }
    }
    const { text, report } = await streamed([wordScanner("evil", SENTENCES)], source());
    expect(text).toBe(PROSE.trimEnd());
    expect(report).toMatchObject({
      outcome: "blocked",
      isValid: false,
      resultsScore: { Word: 1 },
      coverage: { truncated: true },
    });
    expect(report.findings.Word).toMatchObject([{ start: PROSE.length + 17, end: PROSE.length + 21 }]);
    expect(taken).toBeLessThan(50);
  });

  it("ends at a failing span, and releases none of it", async () => {
    const scanners = [new output.BanSubstrings({ substrings: ["blue falcon project"] })];
    const { text, report } = await streamed(
      scanners,
      pieces(`${PROSE}We speak of the blue falcon project here. ${PROSE}`, 3),
    );
    expect(report.outcome).toBe("blocked");
    expect(`${PROSE}We speak of the`.startsWith(text)).toBe(true);
    expect(text).toContain("Birds sing");
  });

  it("continues after a check removed its findings, if the caller allows it", async () => {
    const text = `${PROSE}Then it plans an evil deed. ${PROSE}`;
    const scanner = wordScanner("evil", { ...SPANS, sanitizes: true });
    expect(await streamed([scanner], pieces(text), { masking: ["Word"] })).toMatchObject({
      text: text.replace("evil", "***"),
      report: { outcome: "masked", isValid: false },
    });
    expect((await streamed([scanner], pieces(text))).report.outcome).toBe("blocked");
  });

  it("limits the characters that it holds within a sentence", async () => {
    const text = "and so on and on ".repeat(40);
    const { texts } = await streamed([wordScanner("evil", SENTENCES)], pieces(text), { holdbackChars: 100 });
    expect(texts.join("")).toBe(text);
    expect(Math.max(...texts.map((part) => part.length))).toBeLessThan(200);
  });

  it("holds a possible placeholder, key or link until it is decided", async () => {
    const vault = new Vault([
      ["[REDACTED_PERSON_1]", "Ada Lovelace"],
      ["Jane Doe", "Grace Hopper"],
    ]);
    const text = "Hello [REDACTED_PERSON_1], and Jane Doe too. Bye [REDACTED_PERSON_1]";
    const { texts } = await streamed([new Deanonymize()], pieces(text, 1), { vault });
    expect(texts.join("")).toBe("Hello Ada Lovelace, and Grace Hopper too. Bye Ada Lovelace");
    expect(texts.filter((part) => /\[|Jane/.test(part))).toEqual([]);
  });

  it("runs scanners that need the whole answer at its end, and names them", async () => {
    const whole = wordScanner("wave", { name: "Whole" });
    const { text, report } = await streamed([wordScanner("evil", SENTENCES), whole], pieces(PROSE));
    expect(whole.read).toEqual([PROSE]);
    expect(report).toMatchObject({ outcome: "blocked", atEnd: ["Whole"], resultsValid: { Whole: false, Word: true } });
    expect(text).not.toContain("wave");
  });

  it("releases nothing before the end if a scanner may rewrite the whole answer", async () => {
    const json = '{"name": "Ada", "born": 1815,}';
    const repaired = await streamed([new output.JSON()], pieces(json));
    expect(repaired.texts).toEqual([(await scanOutput([new output.JSON()], "", json)).sanitizedOutput]);
    expect(repaired.report.atEnd).toEqual(["JSON"]);
    const unknown = wordScanner("evil", { sanitizes: true });
    expect((await streamed([unknown], pieces(PROSE))).texts).toEqual([PROSE]);
    // A text that is longer than the kept window cannot be rewritten.
    expect(await streamed([unknown], pieces(PROSE), { wholeChars: 50 })).toMatchObject({
      ...{ text: "", report: { outcome: "blocked", isValid: false, coverage: { truncated: true } } },
    });
  });

  it("reports how much of a long answer the scanners of whole answers did not read", async () => {
    const text = PROSE.repeat(10);
    const whole = wordScanner("evil", { name: "Whole" });
    const { text: out, report } = await streamed(
      [whole, wordScanner("evil", { ...SENTENCES, name: "Parts" })],
      pieces(text),
      {
        wholeChars: 200,
      },
    );
    expect(out).toBe(text);
    expect(whole.read).toEqual([text.slice(0, 200)]);
    expect(report).toMatchObject({
      ...{ outcome: "passed", atEnd: ["Whole"], resultsValid: { Whole: true, Parts: true } },
      coverage: { chars: text.length, scannedChars: 200, truncated: true },
    });
  });

  it("is as strict as a scan of the whole answer, if models judge", async () => {
    // The scanner acts like a model that reads windows: no sentence fails alone.
    const judge: Scanner = {
      ...{ type: "Judge", name: "Judge", sanitizes: false, streaming: { reads: "sentences", overlap: 0 } },
      async scan(text) {
        const isBad = text.includes("sun") && text.includes("boat");
        return { ...passed(text), isValid: !isBad, score: isBad ? 0.6 : -0.4, probability: isBad ? 0.8 : 0.3 };
      },
    };
    const whole = await scanOutput([judge], "", PROSE);
    const { report } = await streamed([judge], pieces(PROSE));
    expect(report).toMatchObject({
      outcome: "blocked",
      resultsScore: whole.resultsScore,
      probabilities: { Judge: 0.8 },
    });
    // The report contains the worst score of the parts.
    const first = wordScanner("", {
      ...SENTENCES,
      scan: async (text) => ({ ...passed(text), score: text === "The sun is warm today." ? -0.1 : -0.9 }),
    });
    expect((await streamed([first], pieces(PROSE))).report.resultsScore).toEqual({ Word: -0.1 });
  });

  it("blocks if a scanner would change released text", async () => {
    // The first finding of this scanner depends on the end of the text, although it declares to read spans.
    const scanner: Scanner = {
      ...{ type: "Odd", name: "Odd", sanitizes: true, streaming: { reads: "spans", span: 0 } },
      scan: async (text) => ({
        ...passed(text),
        ...(text.includes("wave") ? { sanitized: text.replace("sun", "moon") } : {}),
      }),
    };
    const { text, report } = await streamed([scanner], pieces(PROSE));
    expect(report).toMatchObject({ outcome: "blocked", isValid: false });
    expect(text).not.toContain("wave");
  });

  it("decides on an unfinished span at the limit, or blocks it", async () => {
    const long = "x".repeat(30_000);
    expect(
      (await streamed([new output.Secrets()], pieces(`${PROSE}${long} ${PROSE}`, 100), { wholeChars: 1000 })).text,
    ).toBe(`${PROSE}${long} ${PROSE}`);
    const key = `${PROSE}-----BEGIN PRIVATE KEY-----\n${`${"a1B2c3D4".repeat(8)}\n`.repeat(300)}`;
    const blocked = await streamed([new output.Secrets()], pieces(key, 50), { masking: ["Secrets"], wholeChars: 1000 });
    expect(blocked.report.outcome).toBe("blocked");
    expect(blocked.text).toBe(PROSE.trimEnd());
    // A text that only mentions keys passes.
    const about = "Such files begin with -----BEGIN PRIVATE KEY----- and then have base64. ";
    expect((await streamed([wordScanner("evil", SENTENCES), new InvisibleText()], pieces(about + PROSE))).text).toBe(
      about + PROSE,
    );
  });

  it("reads linearly: each character a bounded number of times, whatever the pieces", async () => {
    for (const length of [10_000, 40_000]) {
      for (const size of [1, 7, 400]) {
        const spans = wordScanner("evil", SPANS);
        const parts = wordScanner("evil", { ...SENTENCES, name: "Parts" });
        const text = PROSE.repeat(Math.ceil(length / PROSE.length));
        await streamed([spans, parts], pieces(text, size), { wholeChars: 0 });
        const read = (scanner: { read: string[] }) =>
          scanner.read.reduce((sum, part) => sum + part.length, 0) / text.length;
        expect(read(spans)).toBeLessThan(50);
        expect(read(parts)).toBeLessThan(1.1);
      }
    }
  });

  it("keeps little of an answer of 10 MB", async () => {
    const piece = PROSE.repeat(48);
    function* source() {
      for (let at = 0; at < 10_000_000; at += piece.length) yield piece;
    }
    let [longest, findings, out] = [0, 0, 0];
    const scanner: Scanner = {
      ...{ type: "Long", name: "Long", sanitizes: true, streaming: { reads: "spans", span: 32 } },
      async scan(text) {
        longest = Math.max(longest, text.length);
        const found = { start: text.length - 5, end: text.length, type: "end", score: 1 };
        return { ...passed(text), isValid: false, score: 1, findings: [found], sanitized: text.replaceAll("e", "*") };
      },
    };
    const scanned = scanOutputStream([scanner], "", source(), { masking: ["Long"] });
    for await (const text of scanned) out += text.length;
    const report = await scanned.report;
    findings = report.findings.Long?.length ?? 0;
    expect(out).toBeGreaterThanOrEqual(10_000_000);
    expect(report.coverage).toMatchObject({ chars: out, scannedChars: out, truncated: false });
    expect(longest).toBeLessThan(4 * piece.length);
    expect(findings).toBeLessThanOrEqual(1000);
  });

  it("counts each omitted finding once, however often the text around it is read", async () => {
    const text = "abcdefghi ".repeat(2000);
    const scanners = [new output.Regex({ patterns: ["[a-z]"], matchType: "all" })];
    const { findings, coverage } = await scanOutput(scanners, "", text);
    expect(coverage.findingsOmitted).toEqual({ Regex: 17_000 });
    for (const [size, wholeChars] of [
      [100, 0],
      [3000, 0],
      [3000, 65_536],
    ] as const) {
      const { report } = await streamed(scanners, pieces(text, size), { masking: ["Regex"], wholeChars });
      expect(report.findings.Regex).toHaveLength(findings.Regex?.length ?? 0);
      expect(report.coverage.findingsOmitted).toEqual(coverage.findingsOmitted);
    }
  });

  it("is blocked if the name of a released value arrives too late", async () => {
    const value = "Xk39fhQ2mmZ81pA";
    const late = (gap: string) => `Use ${value}${gap} when the password = "${value}" is asked for. ${PROSE}`;
    const near = await streamed([new output.Secrets()], pieces(late(""), 20), { masking: ["Secrets"] });
    expect(near.text).not.toContain(value);
    expect(near.report.outcome).toBe("masked");
    const far = await streamed([new output.Secrets()], pieces(late(` for it. ${PROSE}`), 20), { masking: ["Secrets"] });
    expect(far.text.split(value)).toHaveLength(2);
    expect(far.report).toMatchObject({ isValid: false, outcome: "blocked" });
  });

  it("reads nothing ahead, and closes the source when the reader stops", async () => {
    let [taken, ended] = [0, false];
    async function* source() {
      try {
        for (;;) {
          taken++;
          yield PROSE;
        }
      } finally {
        ended = true;
      }
    }
    const scanned = scanOutputStream([wordScanner("evil", SENTENCES)], "", source());
    expect(taken).toBe(0);
    for await (const text of scanned) {
      expect(text).not.toBe("");
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(taken).toBe(1);
      break;
    }
    await expect(scanned.report).rejects.toMatchObject({ code: "GUARD_ABORTED" });
    expect(ended).toBe(true);
  });

  it("accepts and returns web streams", async () => {
    let [cancelled, taken] = [false, 0];
    const source = new ReadableStream<string>(
      {
        pull: (controller) => {
          taken++;
          controller.enqueue(PROSE);
        },
        cancel: () => {
          cancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const reader = scanOutputStream([wordScanner("evil", SPANS)], "", source)
      .toReadableStream()
      .getReader();
    expect(taken).toBe(0);
    expect((await reader.read()).value).toContain("The sun");
    expect(taken).toBe(1);
    await reader.cancel();
    expect(cancelled).toBe(true);
    const words = ReadableStream.from<string>(pieces(PROSE));
    const ended = scanOutputStream([], "", words);
    let text = "";
    for await (const part of ended.toReadableStream() as unknown as AsyncIterable<string>) text += part;
    expect(text).toBe(PROSE);
  });

  it("passes on errors of the source, of scanners and of the signal", async () => {
    async function* broken() {
      yield PROSE;
      throw new TypeError("the line broke");
    }
    const read = async (
      scanners: Scanner[],
      source: AsyncIterable<string> | Iterable<string>,
      options: StreamScanOptions = {},
    ) => {
      const scanned = scanOutputStream(scanners, "", source, options);
      const texts = async () => {
        for await (const _ of scanned);
      };
      return [await texts().catch((error: unknown) => error), await scanned.report.catch((error: unknown) => error)];
    };
    const word = wordScanner("evil", SENTENCES);
    for (const error of await read([word], broken())) expect(error).toMatchObject({ message: "the line broke" });
    const failing = wordScanner("", { ...SPANS, scan: () => Promise.reject(new RangeError("no")) });
    for (const error of await read([failing], pieces(PROSE))) expect(error).toMatchObject({ scanner: "Word" });
    const blocking = await streamed([failing], pieces(PROSE), { onScannerError: "block" });
    expect(blocking).toMatchObject({ text: "", report: { outcome: "blocked", coverage: { failed: ["Word"] } } });
    const waits = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const signal = AbortSignal.timeout(20);
    for (const error of await read([word], waits, { signal })) expect(error).toMatchObject({ name: "TimeoutError" });
    for (const error of await read([word], [1 as never])) expect(error).toMatchObject({ path: "source" });
  });

  it("releases whole words when nothing more arrives for a while", async () => {
    let goOn = () => {};
    const pause = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    async function* source() {
      yield "Just a moment pl";
      await pause;
      yield "ease. Done.";
    }
    const scanned = scanOutputStream([wordScanner("evil", SENTENCES)], "", source(), { holdbackMs: 10 });
    const texts: string[] = [];
    for await (const text of scanned) {
      texts.push(text);
      goOn();
    }
    expect(texts).toEqual(["Just a moment", " please.", " Done."]);
  });

  it("reports invalid arguments at once", () => {
    const scan =
      (source: unknown, options: object = {}, prompt: unknown = "") =>
      () =>
        scanOutputStream([], prompt as string, source as string[], options);
    expect(scan("a text")).toThrow("source: expected an async iterable or a web stream of strings");
    expect(scan([], { holdBack: 5 })).toThrow("holdBack: unknown option");
    expect(scan([], { holdbackChars: -1 })).toThrow("holdbackChars: expected a whole number");
    expect(scan([], {}, 5)).toThrow("prompt: expected a string");
    const masking = (...names: unknown[]) =>
      scanOutputStream([new output.Secrets(), new output.Toxicity()], "", [], { masking: names as string[] });
    expect(() => masking("Secrets", "Secretss")).toThrow("masking.1: unknown scanner Secretss; did you mean Secrets?");
    expect(() => masking("Toxicity")).toThrow("masking.0: Toxicity does not remove everything that it finds");
    expect(() => masking(5)).toThrow("masking.0: unknown scanner 5; name a scanner that rewrites texts");
  });
});
