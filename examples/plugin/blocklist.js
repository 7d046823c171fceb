// A scanner that fails texts with blocked words, and can replace the words.
import { defineScanner, passed, wholeText } from "guard-scan/plugin";
import { z } from "zod";

export const Blocklist = defineScanner({
  type: "Blocklist",
  summary: "Fails texts with one of several words, in any case.",
  sides: { input: {}, output: {} },
  // YAML files use snake_case: `redact_with`. Unknown keys and wrong values are errors.
  options: z.object({
    words: z
      .array(z.string().regex(/^\p{L}+$/u, "expected a word"))
      .min(1)
      .describe("The words."),
    redactWith: z.string().optional().describe("What words are replaced by. Default: the text stays as it is."),
  }),
  // In a conversation, it also scans the last messages together, and tool results.
  conversation: { window: true, sources: ["user", "tool"] },
  findings: [{ type: "blocked-word", label: "The word as the list has it." }],
  examples: { options: { words: ["heron"] }, passes: ["A grey bird."], fails: ["Operation HERON starts."] },
  create({ options: { words, redactWith } }) {
    const blocked = new Map(words.map((word) => [word.toLowerCase(), word]));
    return {
      // Scanners that change the text run sequentially, in the order of the list.
      sanitizes: redactWith !== undefined,
      check(text) {
        const found = [...text.matchAll(/\p{L}+/gu)].filter(([word]) => blocked.has(word.toLowerCase()));
        if (found.length === 0) return passed(text);
        return {
          isValid: false,
          score: 1,
          findings: found.map(({ 0: word, index }) => ({
            start: index,
            end: index + word.length,
            type: "blocked-word",
            text: word,
            score: 1,
            label: blocked.get(word.toLowerCase()),
          })),
          ...(redactWith === undefined
            ? {}
            : { sanitized: text.replace(/\p{L}+/gu, (word) => (blocked.has(word.toLowerCase()) ? redactWith : word)) }),
          coverage: wholeText(text),
        };
      },
    };
  },
});
