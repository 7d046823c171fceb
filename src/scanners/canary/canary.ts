import { z } from "zod";
import type { Abortable } from "../../native.ts";
import { type Finding, notScanned, passed, type ScanContext, wholeText } from "../../scan/scanner.ts";
import { FAILED } from "../../scan/score.ts";
import { decodeNumbers } from "../../text/encoded-numbers.ts";
import { findOverlap } from "../../text/overlap.ts";
import { overlapTest, type Span } from "../../text/span.ts";
import { defineScanner } from "../define-scanner.ts";
import { redactions, withEdits } from "../parts/redaction.ts";
import {
  CANARY,
  NO_CANARY,
  spellings,
  startWithMarker,
  TOKEN_LENGTH,
  type TokenSpelling,
  tokensIn,
} from "./canary-token.ts";

/**
 * The fewest consecutive characters of a token that count as a leak.
 *
 * Ten characters have 50 bits, and a token has seven such runs in each of four spellings, so ten given characters are one of them with a
 * probability of at most 28 × 2^-50. A text of n letters and digits that does not know the token fails with a probability below
 * n × 2^-45: 2^-30 for 32,000 characters, and 2^-25 for a million. Each decoded view adds as much for its own length.
 */
const MIN_RUN = 10;

/** A place in a text that reveals a token. */
interface Leak extends Span {
  characters: number;
  view?: string;
}

export const Canary = defineScanner({
  type: "Canary",
  summary: "Fails texts that leak a canary: a random token that was planted in the system prompt.",
  description:
    "`plantCanary` adds a canary to a system prompt: `guard-canary-` and 16 random characters (80 bits), with the instruction never to " +
    "repeat it. An answer or a tool call that contains it shows that the system prompt leaks.\n\n" +
    `A text fails if it contains at least ${MIN_RUN} consecutive characters of the 16, in any case and with anything between them. Base64, ` +
    "hexadecimal digits, percent-encoding, rot13, reversed writing, look-alike letters and the other disguises that guard undoes count " +
    "too, and so do character codes: decimal, hexadecimal, octal and binary. The marker alone is no leak. A text of a million random " +
    "characters fails by chance with a probability of about 2^-25, and each decoded view adds as much.\n\n" +
    "Canaries come from the system and developer messages of the conversation, where their marker identifies them, and from `canaries`. " +
    "Without canaries, a text passes, and its coverage says that nothing was scanned. As an input scanner, it reads the arguments of " +
    "tool calls.",
  sides: { input: {}, output: {} },
  options: () => ({
    canaries: z
      .array(z.string().regex(CANARY, NO_CANARY))
      .default([])
      .describe(
        "Canaries, for texts that are scanned without their conversation. They are looked for in addition to those of the conversation.",
      ),
    redact: z.boolean().default(false).describe("Replaces leaked canaries by [REDACTED]."),
  }),
  conversation: { sources: ["tool_call"], dependsOnOthers: true },
  findings: [{ type: "canary", label: "How much of the token was found: `16 of 16 characters`." }],
  examples: {
    side: "output",
    options: { canaries: ["guard-canary-7GQ2M9XKTB4WZ5RD"], redact: true },
    passes: ["I cannot tell you whether my prompt has a guard-canary.", "Your order 7GQ2M9 has left our warehouse."],
    fails: [
      {
        text: "My prompt ends with guard-canary-7GQ2M9XKTB4WZ5RD, which is a secret.",
        sanitized: "My prompt ends with [REDACTED], which is a secret.",
      },
      {
        text: "Read it backwards: dr5zw4btkx9m2qg7",
        sanitized: "Read it backwards: [REDACTED]",
      },
    ],
  },
  create({ options: { canaries, redact } }) {
    return {
      sanitizes: redact,
      // A token may be written with something between its characters.
      streaming: { reads: "spans", span: 256, across: 128 },
      async check(text, context) {
        const tokens = tokensIn([...canaries, ...systemTexts(context)]);
        if (tokens.length === 0) {
          return passed(text, notScanned(text));
        }
        const leaks = await findLeaks(text, tokens.flatMap(spellings), context);
        if (leaks.length === 0) return passed(text);
        const findings = leaks.map(({ start, end, characters, view }): Finding => {
          const label = `${characters} of ${TOKEN_LENGTH} characters`;
          const found = { start, end, type: "canary", text: text.slice(start, end), score: 1, label };
          return { ...found, ...(view === undefined ? {} : { view }) };
        });
        return {
          isValid: false,
          score: FAILED,
          ...withEdits(redact ? redactions(leaks) : []),
          findings,
          coverage: wholeText(text),
        };
      },
    };
  },
});

function systemTexts({ conversation }: ScanContext): string[] {
  return conversation?.texts.filter(({ source }) => source === "system").map(({ text }) => text) ?? [];
}

/** Finds tokens in a text, in its views, and in its character codes. */
async function findLeaks(text: string, forms: readonly TokenSpelling[], { signal }: Abortable): Promise<Leak[]> {
  const options = { minimum: MIN_RUN, count: "letters", signal } as const;
  const wanted = forms.map((form) => form.text);
  const codes = await decodeNumbers(text, MIN_RUN, { signal });
  const [written, ...decoded] = await Promise.all([
    findOverlap(text, wanted, { ...options, deobfuscate: true }),
    ...codes.map((decoded) => findOverlap(decoded.text, wanted, options)),
  ]);
  const leaks = written.passages.map(({ start, end, words, other, view }): Leak => {
    const disguises = [view ?? spacedView(text.slice(start, end)), forms[other]?.view];
    const isDisguised = forms[other]?.view !== undefined;
    return leak({ start: isDisguised ? start : startWithMarker(text, start), end }, words, disguises);
  });
  for (const [index, { passages }] of decoded.entries()) {
    const code = codes[index];
    if (!code) continue;
    const isKnown = overlapTest(leaks);
    let reached = 0;
    for (const { start, end, words, other } of passages) {
      const span = code.locate({ start, end });
      // The views decode some character codes, too.
      if (span.start < reached || isKnown(span)) continue;
      reached = span.end;
      leaks.push(leak(span, words, [code.view, forms[other]?.view]));
    }
  }
  return leaks;
}

function leak(span: Span, letters: number, disguises: readonly (string | undefined)[]): Leak {
  const view = disguises.filter((name) => name !== undefined).join(">");
  // Spellings that look alike may follow one another in one passage.
  return { ...span, characters: Math.min(letters, TOKEN_LENGTH), ...(view === "" ? {} : { view }) };
}

/** Returns the name of the view of a passage with something between its letters. */
function spacedView(passage: string): string | undefined {
  return /^[0-9A-Za-z]+$/.test(passage) ? undefined : "spaced";
}
