import { afterAll, describe, expect, it } from "vitest";
import { scanOutput, scanPrompt } from "../../src/conversation/single-text.ts";
import { readConversation } from "../../src/messages/read-conversation.ts";
import type { Side } from "../../src/scan/scanner.ts";
import { SCANNERS } from "../../src/scanners/catalog.ts";
import type { BuiltInScanner, Example } from "../../src/scanners/definition.ts";
import { scanned } from "../support/rewritten.ts";

// The definition of every scanner has texts that it passes and fails. Its page shows them, so they must be correct.
describe.each(SCANNERS.map((scanner) => [scanner.definition.type, scanner] as const))("%s", (_type, scanner) => {
  const { examples } = scanner.definition;
  const sides = Object.keys(scanner.classes) as Side[];

  // Loading a model takes longer than scanning, so examples with the same options share a scanner.
  const built = new Map<string, BuiltInScanner>();
  const scannerWith = (side: Side, options: object = {}) => {
    const Scanner = scanner.classes[side];
    if (!Scanner) throw new Error(`no ${side} scanner`);
    const key = `${side} ${JSON.stringify(options)}`;
    const known = built.get(key) ?? new Scanner({ ...examples.options, ...options } as never);
    built.set(key, known);
    return known;
  };
  afterAll(async () => {
    for (const item of built.values()) await item.close();
  });

  const scan = async (side: Side, example: Example) => {
    const {
      text,
      prompt = "",
      options,
      source,
      conversation,
    }: Exclude<Example, string> = typeof example === "string" ? { text: example } : example;
    const scanners = [scannerWith(side, options)];
    if (source && conversation) {
      const { texts } = readConversation(conversation);
      const current = texts.findLast((item) => item.source === source);
      expect(current?.text, "the text is the one of the conversation").toBe(text);
      const verdict = await scanned(scanners[0] as BuiltInScanner, text, {
        source,
        conversation: { texts, ...(current && { current }) },
      });
      return { isValid: verdict.isValid, rewritten: verdict.rewritten, findings: verdict.findings };
    }
    if (side === "input") {
      const { isValid, sanitizedPrompt, findings } = await scanPrompt(scanners, text);
      return { isValid, rewritten: sanitizedPrompt, findings: Object.values(findings).flat() };
    }
    const { isValid, sanitizedOutput, findings } = await scanOutput(scanners, prompt, text);
    return { isValid, rewritten: sanitizedOutput, findings: Object.values(findings).flat() };
  };
  const check = async (example: Example, isValid: boolean) => {
    const text = typeof example === "string" ? example : example.text;
    const rewritten = typeof example === "string" ? undefined : example.sanitized;
    for (const side of examples.side ? [examples.side] : sides) {
      const result = await scan(side, example);
      expect(result.isValid, side).toBe(isValid);
      if (!isValid) expect(result.findings.length).toBeGreaterThan(0);
      for (const { type, label } of result.findings) {
        const known = scanner.definition.findings.find((finding) => finding.type === type);
        expect(known, `findings of the type ${type} stand in the definition`).toBeDefined();
        expect(label !== undefined, `${type} has a label as the definition says`).toBe(known?.label !== undefined);
      }
      if (rewritten !== undefined) expect(result.rewritten).toBe(rewritten);
      else if (isValid) expect(result.rewritten).toBe(text);
    }
  };

  it.each(examples.passes.map((example) => [JSON.stringify(example), example] as const))("passes %s", (_, example) =>
    check(example, true),
  );
  if (examples.fails.length > 0) {
    it.each(examples.fails.map((example) => [JSON.stringify(example), example] as const))("fails %s", (_, example) =>
      check(example, false),
    );
  }
  it("has an example", () => {
    expect(examples.passes.length).toBeGreaterThan(0);
  });
});
