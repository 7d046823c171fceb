import { z } from "zod";
import { type Finding, notScanned, passed, type ScanContext, wholeText } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { findOverlap } from "../text/overlap.ts";
import { defineScanner } from "./define-scanner.ts";
import { redactions, withEdits } from "./parts/redaction.ts";

/**
 * The shortest passage that counts, in words. Rules of a few words, such as "You are a helpful assistant", occur in thousands of prompts
 * and in ordinary answers. This number and the defaults below are chosen, not measured.
 */
const MIN_PASSAGE = 8;

/** An upper bound of the average length of a word with a space, in UTF-16 code units. Few languages have longer words. */
const WORD_LENGTH = 12;

export const SystemPromptLeak = defineScanner({
  type: "SystemPromptLeak",
  summary: "Fails texts that repeat passages of the system prompt.",
  description:
    "A text fails if it repeats `minimum_words` consecutive words of a system prompt, twice as many words in passages of at least " +
    `${MIN_PASSAGE} words, in any order, or the whole of a shorter system prompt with at least ${MIN_PASSAGE} words. Case, accents, ` +
    "punctuation and white space are ignored, and a character of a script without spaces counts as half a word. Decoded views count too: " +
    "base64, rot13, reversed writing and other disguises. Translations and summaries are not found.\n\n" +
    "Words of users are no leak, even if the system prompt contains them. Facts for users in a system prompt, such as opening hours, are " +
    "found if an answer repeats them word by word: raise `minimum_words` if answers have to do so.\n\n" +
    "System prompts come from the system and developer messages of the conversation, and from `system_prompt`. Without a system prompt, a " +
    "text passes, and its coverage says that nothing was scanned. As an input scanner, it reads the arguments of tool calls.",
  sides: { input: {}, output: {} },
  options: () => ({
    systemPrompt: z
      .string()
      .min(1)
      .optional()
      .describe(
        "A system prompt, for texts that are scanned without their conversation. It is used in addition to those of the conversation.",
      ),
    minimumWords: z
      .number()
      .int()
      .min(MIN_PASSAGE)
      .default(12)
      .describe("How many consecutive words of a system prompt make a text fail."),
    redact: z.boolean().default(false).describe("Replaces the repeated passages of a failing text by [REDACTED]."),
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
      streaming: { reads: "spans", span: minimumWords * WORD_LENGTH, across: minimumWords * WORD_LENGTH, before: 1024 },
      async check(text, context) {
        const { system, user } = textsOf(context, systemPrompt);
        if (system.length === 0) {
          return passed(text, notScanned(text));
        }
        const options = { minimum: MIN_PASSAGE, except: user, deobfuscate: true, signal: context.signal };
        const { passages, others } = await findOverlap(text, system, options);
        const isLong = passages.some(({ words }) => words >= minimumWords);
        const isLarge = others.some(({ words, of }) => words >= Math.min(2 * minimumWords, Math.max(of, MIN_PASSAGE)));
        if (!isLong && !isLarge) return passed(text);
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
