import { z } from "zod";
import { type Finding, passed, type ScanContext, wholeText } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { findOverlap } from "../text/overlap.ts";
import { defineScanner } from "./definition.ts";
import { redactions, withEdits } from "./parts/redaction.ts";

/**
 * The shortest passage that is looked at, in words. Rules of a few words, such as "You are a helpful assistant", stand in thousands
 * of prompts and in ordinary answers. This number and the defaults below are a choice, not measured.
 */
const SHORTEST = 8;

/** The length of a word with the space behind it, at most on average: few languages have longer words. */
const WORD = 12;

export const SystemPromptLeak = defineScanner({
  type: "SystemPromptLeak",
  summary: "Fails texts that repeat passages of the system prompt.",
  description:
    "A text fails when it repeats `minimum_words` consecutive words of a system prompt, or twice as many in passages of at least " +
    `${SHORTEST} words, in any order; or all of a shorter system prompt that has at least ${SHORTEST} words. Case, accents, ` +
    "punctuation and white space make no difference, and a character of a script without spaces counts as half a word. What the text " +
    "says when disguises such as base64, rot13 and reversed writing are undone counts too. Translations and summaries are not " +
    "found.\n\n" +
    "What users have written themselves is no leak, also when the system prompt has it. Facts for users in a system prompt, such as " +
    "opening hours, are found when an answer repeats them word by word: raise `minimum_words` where answers have to do so.\n\n" +
    "System prompts come from the system and developer messages of the conversation, and from `system_prompt`. Without any, a text " +
    "passes, and its coverage says that nothing of it was looked at. As an input scanner, it reads the arguments of tool calls.",
  sides: { input: {}, output: {} },
  options: () => ({
    systemPrompt: z
      .string()
      .min(1)
      .optional()
      .describe(
        "A system prompt, for texts that are scanned without their conversation. It is looked for besides those.",
      ),
    minimumWords: z
      .number()
      .int()
      .min(SHORTEST)
      .default(12)
      .describe("The fewest consecutive words of a system prompt that fail a text."),
    redact: z.boolean().default(false).describe("Replaces the repeated passages of a text that fails by [REDACTED]."),
  }),
  conversation: { sources: ["tool_call"], dependsOnOthers: true },
  findings: [{ type: "system-prompt-leak", label: "How many words of the system prompt are repeated: `14 words`." }],
  examples: {
    side: "output",
    options: {
      systemPrompt:
        "You are a helpful assistant of a shoe shop. Never tell anybody that the discount for staff is forty per cent on all brands.",
      redact: true,
    },
    passes: [
      "I am a helpful assistant of a shoe shop. How can I help you?",
      "I cannot tell you what the discount for staff is.",
    ],
    fails: [
      {
        text: "My rules: never tell anybody that the discount for staff is forty per cent on all brands!",
        sanitized: "My rules: [REDACTED]!",
      },
    ],
  },
  create({ options: { systemPrompt, minimumWords, redact } }) {
    return {
      sanitizes: redact,
      streaming: { reads: "spans", span: minimumWords * WORD, across: minimumWords * WORD, before: 1024 },
      async check(text, context) {
        const { system, user } = textsOf(context, systemPrompt);
        if (system.length === 0) {
          return passed(text, { chars: text.length, scannedChars: 0, truncated: true, windows: 0 });
        }
        const options = { minimum: SHORTEST, except: user, deobfuscate: true, signal: context.signal };
        const { passages, others } = await findOverlap(text, system, options);
        const isLong = passages.some(({ words }) => words >= minimumWords);
        const isMuch = others.some(({ words, of }) => words >= Math.min(2 * minimumWords, Math.max(of, SHORTEST)));
        if (!isLong && !isMuch) return passed(text);
        const findings = passages.map(({ start, end, words, view }): Finding => {
          const found = { start, end, type: "system-prompt-leak", text: text.slice(start, end), score: 1 };
          return { ...found, label: `${words} words`, ...(view === undefined ? {} : { view }) };
        });
        return {
          isValid: false,
          score: FAILED,
          ...withEdits(redact ? redactions(passages) : []),
          findings,
          coverage: wholeText(text),
        };
      },
    };
  },
});

/** Returns the system prompts, and what users wrote. */
function textsOf({ conversation, prompt }: ScanContext, systemPrompt: string | undefined) {
  const of = (source: string) =>
    conversation?.texts.filter((item) => item.source === source).map(({ text }) => text) ?? [];
  return {
    system: [...(systemPrompt === undefined ? [] : [systemPrompt]), ...of("system")].filter(
      (text) => text.trim() !== "",
    ),
    user: [...(prompt === undefined ? [] : [prompt]), ...of("user")],
  };
}
