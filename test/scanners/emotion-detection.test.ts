import { describe, expect, it } from "vitest";
import { createScanner } from "../../src/scanners/catalog.ts";
import { EmotionDetection } from "../../src/scanners/generated/input-scanners.ts";
import { multitaskModel } from "../support/model-fixtures.ts";

describe("EmotionDetection", () => {
  it("blocks negative emotions, and names them", async () => {
    const scanner = new EmotionDetection({ model: multitaskModel });
    expect((await scanner.scan("they are furious")).findings).toMatchObject([
      { start: 0, end: 16, type: "emotion", label: "anger", score: expect.closeTo(0.953, 3) },
    ]);
    expect(await scanner.scan("they are happy")).toMatchObject({ isValid: true, findings: [] });
  });

  it.each(["input", "output"] as const)("blocks other emotions on request, on the side of the %s", async (side) => {
    const scanner = createScanner(side, "EmotionDetection", { model: multitaskModel, blocked_emotions: ["joy"] });
    expect((await scanner.scan("they are happy", {})).findings).toMatchObject([{ label: "joy" }]);
    expect((await scanner.scan("they are furious", {})).isValid).toBe(true);
  });

  it("blocks nothing without blocked emotions", async () => {
    const scanner = new EmotionDetection({ model: multitaskModel, blockedEmotions: [] });
    await scanner.load();
    expect(await scanner.scan("they are furious")).toMatchObject({ isValid: true, score: -1, findings: [] });
  });

  it.each([[[]], [["anger"]]])("reports all emotions on request, whichever it blocks: %j", async (blockedEmotions) => {
    const scanner = new EmotionDetection({ model: multitaskModel, blockedEmotions, returnFullOutput: true });
    const text = "they are furious . the sky is blue";
    const { isValid, findings } = await scanner.scan(text);
    expect(isValid).toBe(blockedEmotions.length === 0);
    const told = findings.filter(({ type }) => type === "emotion-score");
    expect(new Set(told.map(({ label }) => label)).size).toBe(28);
    expect(told[0]).toMatchObject({ start: 0, end: text.length, label: "anger", score: expect.closeTo(0.953, 3) });
    expect(told[27]?.score).toBeCloseTo(0.047, 3);
  });

  it("refuses emotions that the model does not know", async () => {
    const scanner = new EmotionDetection({ model: multitaskModel, blockedEmotions: ["anger", "hunger"] });
    await expect(scanner.load()).rejects.toMatchObject({ path: "blockedEmotions" });
  });
});

describe("EmotionDetection with the embedded model", () => {
  const embedded = new EmotionDetection();

  it.each([
    ["anger", "What a stupid, infuriating decision, I hate it."],
    ["sadness", "I feel so sad and lonely since my dog died."],
    ["fear", "I'm terrified, I am so scared of what will happen."],
    ["anger", "I am furious with you, this makes me so angry!"],
  ])("finds %s in %j", async (label, text) => {
    const { isValid, findings } = await embedded.scan(text);
    expect(isValid).toBe(false);
    expect(findings.map((finding) => finding.label)).toContain(label);
  });

  it.each(["Thank you so much, this is wonderful!", "Which bus goes to the airport on Sundays?"])(
    "passes %j",
    async (text) => {
      expect(await embedded.scan(text)).toMatchObject({ isValid: true, findings: [] });
    },
  );
});
