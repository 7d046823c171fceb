import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConversationRisk, type DetectingScanner, scanConversation, scanPrompt } from "../../src/index.ts";
import { embeddedFolder } from "../../src/models/model-files.ts";
import type { ScanObserver } from "../../src/scan/observer.ts";
import type { Scanner } from "../../src/scan/scanner.ts";
import { SOURCES, type Source } from "../../src/scan/source.ts";
import { createScanner } from "../../src/scanners/catalog.ts";

const INJECTION = "embedded:prompt-injection";
const JUDGES = "embedded:multitask";
const ordinary = [
  "Could you summarize the meeting notes from Tuesday in three bullet points?",
  "Der Zug nach Hamburg fährt um 14:35 Uhr von Gleis 7 ab.",
  "¿Qué libros me recomiendas para aprender a cocinar platos vegetarianos?",
  "def area(width, height):\n    return width * height",
  "来週の会議の議題を三つにまとめてください。",
];
const insults = [
  "You are a stupid idiot and everybody hates you.",
  "Du bist ein dreckiger Vollidiot, verpiss dich endlich!",
  "I will find you and break every bone in your body.",
];

/** The models that a call ran, in order, and its report. */
async function asked(scanners: readonly Scanner[], text: string, source: Source = "user") {
  const { models, observer } = watched();
  const report = await scanPrompt(scanners, text, { observer, source });
  return { models: models.sort(), report };
}

/** An observer, and the models whose runs it saw. */
function watched() {
  const models: string[] = [];
  const observer: ScanObserver = {
    scannerStarted: () => ({
      modelAsked: (model) => {
        models.push(model);
        return undefined;
      },
      ended: () => {},
    }),
  };
  return { models, observer };
}

describe("the prompt injection model", () => {
  let injection: Scanner;
  let toxicity: Scanner;
  let emotion: Scanner;
  const scratch = mkdtempSync(join(tmpdir(), "guard-screen-"));
  beforeAll(async () => {
    injection = createScanner("input", "PromptInjection", {});
    toxicity = createScanner("input", "Toxicity", { threshold: 0.7 });
    emotion = createScanner("input", "EmotionDetection", {});
    for (const scanner of [injection, toxicity, emotion]) await scanner.load?.();
  });
  afterAll(() => rmSync(scratch, { recursive: true }));

  it("screens most ordinary texts, so that no other model reads them", async () => {
    let screened = 0;
    for (const text of ordinary) {
      const { models, report } = await asked([injection, toxicity], text);
      if (models.join() === INJECTION) screened++;
      expect(report.resultsValid).toEqual({ PromptInjection: true, Toxicity: true });
      expect(report.coverage).toMatchObject({ scannedChars: text.length, truncated: false });
    }
    expect(screened).toBeGreaterThan(ordinary.length / 2);
  });

  it("leaves verdicts on insults and threats unchanged, whatever order the scanners have", async () => {
    for (const text of insults) {
      const alone = await asked([toxicity], text);
      expect(alone.models).toEqual([JUDGES]);
      for (const scanners of [
        [injection, toxicity],
        [toxicity, injection],
      ]) {
        const { models, report } = await asked(scanners, text);
        expect(models, text).toEqual([JUDGES, INJECTION].sort());
        expect(report.resultsValid.Toxicity, text).toBe(false);
        expect(report.resultsScore.Toxicity).toBe(alone.report.resultsScore.Toxicity);
      }
    }
  });

  it("screens every window and view of a long text", async () => {
    const long = `${ordinary[0]} `.repeat(30);
    expect((await asked([injection, toxicity], long)).report.resultsValid.Toxicity).toBe(true);
    const buried = `${long}${insults[0]} ${long}`;
    expect((await asked([injection, toxicity], buried)).report.resultsValid.Toxicity).toBe(false);
    const encoded = `Please decode ${Buffer.from(insults[0] as string).toString("base64")} for me.`;
    expect((await asked([injection, toxicity], encoded)).report.resultsValid.Toxicity).toBe(false);
  });

  it("reads a text once, whatever its source, the order of scanners and the accumulated risk", async () => {
    const [text, insult] = [ordinary[0] as string, insults[0] as string];
    for (const source of SOURCES) {
      for (const scanners of [
        [injection, toxicity],
        [toxicity, injection],
      ]) {
        const { models } = await asked(scanners, text, source);
        expect([INJECTION, [JUDGES, INJECTION].sort().join()], source).toContain(models.join());
        expect((await asked(scanners, insult, source)).models, source).toEqual([JUDGES, INJECTION].sort());
      }
    }
    const { models, observer } = watched();
    const risk = ConversationRisk.fromScanner(injection as DetectingScanner);
    const messages = [
      { role: "user" as const, content: text },
      { role: "assistant" as const, content: "Here they are." },
      { role: "user" as const, content: insult },
    ];
    await scanConversation([injection, toxicity], messages, { risk, observer });
    expect(models.filter((model) => model === INJECTION).length).toBeLessThanOrEqual(messages.length);
  });

  it("does not screen if it is not asked itself, or if the others are asked anyway", async () => {
    const text = ordinary[1] as string;
    expect((await asked([toxicity], text)).models).toEqual([JUDGES]);
    expect((await asked([injection, toxicity, emotion], text)).models).toEqual([JUDGES, INJECTION].sort());
    const suppressed = await scanPrompt([injection, toxicity], text, { suppress: ["PromptInjection"] });
    expect(suppressed.resultsValid).toEqual({ Toxicity: true });
  });

  it("screens only for the version of the other model that it was trained with", async () => {
    const copy = join(scratch, "multitask");
    mkdirSync(copy);
    cpSync(join(embeddedFolder, "words"), join(scratch, "words"), { recursive: true });
    for (const file of ["model.onnx", "tokenizer.json"])
      cpSync(join(embeddedFolder, "multitask", file), join(copy, file));
    const config = JSON.parse(readFileSync(join(embeddedFolder, "multitask", "config.json"), "utf8"));
    config.guard.version = "0.0.1";
    writeFileSync(join(copy, "config.json"), JSON.stringify(config));
    const other = createScanner("input", "Toxicity", { model: copy });
    await other.load?.();
    expect((await asked([injection, other], ordinary[0] as string)).models).toEqual([INJECTION, copy].sort());
    await other.close?.();
  });
});
