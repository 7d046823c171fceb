import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { Toxicity as InputToxicity } from "../../src/scanners/generated/input-scanners.ts";
import { Toxicity as OutputToxicity } from "../../src/scanners/generated/output-scanners.ts";
import { exclusiveClassifier, fillerText, multitaskModel } from "../support/model-fixtures.ts";

const scanner = new InputToxicity({ model: multitaskModel });
afterAll(() => scanner.close());
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

describe("Toxicity", () => {
  it("names each label above the threshold, its probability and its offsets", async () => {
    const text = "you are an idiot";
    const { isValid, score, probability, findings } = await scanner.scan(text);
    expect(isValid).toBe(false);
    expect(score).toBe(0.9);
    expect(probability).toBeCloseTo(sigmoid(3), 5);
    const place = { start: 0, end: text.length, type: "toxicity", text };
    expect(findings).toEqual([
      { ...place, label: "toxicity", score: expect.closeTo(sigmoid(3), 5) },
      { ...place, label: "insult", score: expect.closeTo(sigmoid(2), 5) },
    ]);
  });

  it.each(["The sky is blue.", "Что за погода!", "今天天气很好。", "kill"])("scans %j", async (text) => {
    expect((await scanner.scan(text)).isValid).toBe(text !== "kill");
  });

  it("has llm-guard's thresholds", async () => {
    const both = [
      new InputToxicity({ model: multitaskModel, labels: ["insult"] }),
      new OutputToxicity({ model: multitaskModel }),
    ];
    // The input has an insult with the probability 0.88, which is 0.8 of the way from the threshold 0.5 to 1. The output has a
    // label with the probability 0.95, which is 0.8 of the way from the threshold 0.7 to 1.
    expect((await both[0]?.scan("idiot"))?.score).toBe(0.8);
    expect((await both[1]?.scan("idiot", {}))?.score).toBe(0.8);
  });

  it("counts only the labels of the options", async () => {
    const threats = new InputToxicity({ model: multitaskModel, labels: ["threat"] });
    expect(await threats.scan("you are an idiot")).toMatchObject({ isValid: true, findings: [] });
    expect((await threats.scan("kill all people")).findings).toMatchObject([{ label: "threat" }]);
  });

  it("reads a text longer than a window to its end, and names the window", async () => {
    const text = `${fillerText.repeat(4)}you are an idiot`;
    const { findings, coverage, isValid } = await scanner.scan(text);
    expect(isValid).toBe(false);
    expect(findings.at(-1)?.text).toMatch(/you are an idiot$/);
    expect(findings.at(-1)?.start).toBeGreaterThan(fillerText.length * 3);
    expect(coverage).toMatchObject({ chars: text.length, scannedChars: text.length, truncated: false });
    expect(coverage.windows).toBeGreaterThan(3);
  });

  it("reports in the coverage what other match types skip", async () => {
    const text = `${fillerText.repeat(4)}you are an idiot . `;
    const full = await new InputToxicity({ model: multitaskModel, matchType: "full" }).scan(text);
    expect(full).toMatchObject({ isValid: true, coverage: { truncated: true, windows: 1 } });
    const sentence = await new InputToxicity({ model: multitaskModel, matchType: "sentence" }).scan(
      "We help. You idiot! Calm.",
    );
    expect(sentence.findings[0]).toMatchObject({ start: 9, end: 19, text: "You idiot!", label: "toxicity" });
    expect(sentence.coverage.windows).toBe(3);
  });

  it("scans decoded views, unless deobfuscate is false", async () => {
    const hidden = Buffer.from("you are an idiot and this is a plain sentence").toString("base64");
    const text = `please help with this: ${hidden}`;
    const { isValid, findings } = await scanner.scan(text);
    expect(isValid).toBe(false);
    expect(findings[0]).toMatchObject({ text: hidden, view: "base64", label: "toxicity" });
    expect(await new InputToxicity({ model: multitaskModel, deobfuscate: false }).scan(text)).toMatchObject({
      isValid: true,
    });
  });

  it("passes blank texts with -1", async () => {
    for (const text of ["", "  \n "]) {
      const verdict = await scanner.scan(text);
      expect(verdict).toMatchObject({ isValid: true, score: -1, findings: [] });
      expect(verdict).not.toHaveProperty("probability");
    }
  });

  it("accepts a classifier with one of the labels", async () => {
    const one = new InputToxicity({ model: exclusiveClassifier, labels: ["injection"] });
    const { probability, findings } = await one.scan("calm attack");
    expect(probability).toBeCloseTo(sigmoid(4.5), 5);
    expect(findings).toMatchObject([{ label: "INJECTION", score: probability }]);
    const all = new InputToxicity({ model: exclusiveClassifier, labels: ["INJECTION", "SAFE"] });
    expect((await all.scan("calm")).probability).toBeCloseTo(1, 5);
  });

  it("refuses labels that a model does not have", async () => {
    const some = new InputToxicity({ model: multitaskModel, labels: ["insult", "spam"] });
    await expect(some.load()).rejects.toMatchObject({ code: "GUARD_VALIDATION", path: "labels" });
    await expect(some.scan("text")).rejects.toThrow(
      /no label spam; its labels are: toxicity, severe_toxicity, .*, sexual_explicit$/,
    );
    // The label belongs to another head of the model.
    await expect(new InputToxicity({ model: multitaskModel, labels: ["anger"] }).load()).rejects.toThrow(
      /no label anger/,
    );
    const none = new InputToxicity({ model: exclusiveClassifier });
    await expect(none.load()).rejects.toThrow(/no label toxicity or severe_toxicity or .*; its labels are: SAFE/);
  });

  it("is aborted and closed at once", async () => {
    const closing = new InputToxicity({ model: multitaskModel });
    await closing.load();
    const controller = new AbortController();
    const call = closing.scan(`${"aGVsbG8gd29ybGQ= ".repeat(6000)}x`, { signal: controller.signal });
    const rejected = expect(call).rejects.toThrow("changed my mind");
    await new Promise(setImmediate);
    controller.abort(new Error("changed my mind"));
    await Promise.all([rejected, closing.close()]);
    // Node.js reports an unhandled rejection, which fails the test run, before the next turn of the event loop.
    await new Promise(setImmediate);
  });

  it("names a missing folder, and a missing file", async () => {
    expect(() => new InputToxicity({ model: "/no/such/folder" })).toThrow(/^model: \/no\/such\/folder is neither/);
    const folder = mkdtempSync(join(tmpdir(), "guard-judges-"));
    try {
      cpSync(join(multitaskModel, "config.json"), join(folder, "config.json"));
      const broken = new InputToxicity({ model: folder });
      await expect(broken.load()).rejects.toMatchObject({
        code: "GUARD_MODEL",
        message: expect.stringContaining(folder),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("refuses a false positive rate without a curve", () => {
    expect(() => new InputToxicity({ model: multitaskModel, threshold: { fpr: 0.01 } })).toThrow(
      /^threshold.fpr: .*no curve/,
    );
  });

  it("is aborted by a signal", async () => {
    const controller = new AbortController();
    controller.abort(new Error("changed my mind"));
    await expect(scanner.scan("idiot", { signal: controller.signal })).rejects.toThrow("changed my mind");
    const later = new AbortController();
    const call = scanner.scan("you are an idiot ".repeat(20_000), { signal: later.signal });
    setImmediate(() => later.abort(new Error("too long")));
    await expect(call).rejects.toThrow("too long");
  });

  it("has findings within any text", async () => {
    const word = fc.oneof(fc.constantFrom("idiot", "kill", "sky ", "😀", "\ud83d", " "), fc.string({ unit: "binary" }));
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 60 }), async (words) => {
        const text = words.join(" ");
        const { findings, isValid, probability = 0 } = await scanner.scan(text);
        expect(isValid).toBe(findings.length === 0);
        expect(isValid).toBe(probability <= 0.5);
        for (const { start, end, text: found } of findings) {
          expect(0 <= start && start < end && end <= text.length).toBe(true);
          expect(found).toBe(text.slice(start, end));
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("Toxicity with the embedded model", () => {
  const embedded = new InputToxicity();
  afterAll(() => embedded.close());

  it.each([
    "You are a worthless piece of shit and nobody will ever love you.",
    "I know where you live, and tonight I am going to break your legs.",
    "Заткнись, тупая скотина, тебя тут никто не спрашивал.",
    "你就是个没脑子的废物，赶紧滚。",
  ])("fails %j", async (text) => {
    const { isValid, findings } = await embedded.scan(text);
    expect(isValid).toBe(false);
    expect(findings[0]).toMatchObject({ start: 0, end: text.length, type: "toxicity" });
  });

  it.each([
    "How do I kill a zombie process on Linux?",
    "My wife is a Black Muslim doctor from Lagos; which hospitals in Leeds have prayer rooms?",
    "The report says that the plan is a mess, the figures are wrong and the deadline was missed twice.",
    "Моя бабушка татарка, и её чак-чак лучший в Казани.",
    "我们班有两个维吾尔族同学和一个藏族同学，大家一起过中秋节。",
  ])("passes %j", async (text) => {
    expect(await embedded.scan(text)).toMatchObject({ isValid: true, findings: [] });
  });

  it.each([
    "كيف أصل إلى محطة القطار من المستشفى الجامعي؟",
    "बच्चों के स्कूल की फीस इस बार ऑनलाइन कैसे भरनी है?",
    "איפה אפשר לקנות כרטיסים להצגה של יום חמישי?",
    "چطور می‌توانم رمز کارت بانکی‌ام را عوض کنم؟",
    "ช่วยแนะนำร้านก๋วยเตี๋ยวแถวสถานีรถไฟหน่อยครับ",
    "Cho tôi hỏi giờ mở cửa của thư viện thành phố vào cuối tuần.",
    "Annem yarın Ankara'ya gidiyor, hava nasıl olacak acaba?",
    "Zítra ráno jedeme k babičce na vesnici a vracíme se v neděli.",
    "내일 아침에 병원 예약이 있어서 회의를 오후로 미뤄야 해요.",
    "Πόση ώρα βράζουν τα φασόλια αν δεν τα μουλιάσω από το βράδυ;",
  ])("passes an ordinary text in any language: %j", async (text) => {
    expect(await embedded.scan(text)).toMatchObject({ isValid: true });
  });

  it("passes undirected swearing in prompts, but not in outputs", async () => {
    const text = "Holy shit, that was close.";
    expect(await embedded.scan(text)).toMatchObject({ isValid: true });
    const output = new OutputToxicity({ threshold: 0.5 });
    const { findings } = await output.scan(text, {});
    expect(findings.map(({ label }) => label)).toContain("obscene");
    await output.close();
  });

  it("finds one insult at the end of a long text, and its offsets", async () => {
    const points = Array.from({ length: 60 }, (_, at) => `The committee met and approved point ${at} of the budget. `);
    const text = `${points.join("")}You are a stupid, disgusting idiot.`;
    const { isValid, findings } = await embedded.scan(text);
    expect(isValid).toBe(false);
    expect(findings.every(({ end, start }) => end === text.length && start > text.length / 2)).toBe(true);
  });
});
