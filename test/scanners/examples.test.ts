import { describe, expect, it } from "vitest";
import { scanOutput, scanPrompt } from "../../src/scan.ts";
import { SCANNERS } from "../../src/scanners/catalog.ts";
import type { Example } from "../../src/scanners/define.ts";

// Every scanner names texts that it passes and texts that it fails; they stand on its page, so they must be true.
describe.each(SCANNERS.map((scanner) => [scanner.definition.type, scanner] as const))("%s", (_type, scanner) => {
  const { examples } = scanner.definition;
  const sides = Object.keys(scanner.classes) as ("input" | "output")[];

  const scan = async (side: "input" | "output", example: Example) => {
    const { text, prompt = "", options = {} } = typeof example === "string" ? { text: example } : example;
    const Scanner = scanner.classes[side];
    if (!Scanner) throw new Error(`no ${side} scanner`);
    const built = new Scanner({ ...examples.options, ...options } as never);
    try {
      if (side === "input") {
        const { isValid, sanitizedPrompt } = await scanPrompt([built], text);
        return { isValid, sanitized: sanitizedPrompt };
      }
      const { isValid, sanitizedOutput } = await scanOutput([built], prompt, text);
      return { isValid, sanitized: sanitizedOutput };
    } finally {
      await built.close();
    }
  };
  const check = async (example: Example, isValid: boolean) => {
    const text = typeof example === "string" ? example : example.text;
    const sanitized = typeof example === "string" ? undefined : example.sanitized;
    for (const side of examples.side ? [examples.side] : sides) {
      const result = await scan(side, example);
      expect(result.isValid, side).toBe(isValid);
      if (sanitized !== undefined) expect(result.sanitized).toBe(sanitized);
      else if (isValid) expect(result.sanitized).toBe(text);
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
