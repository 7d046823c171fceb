import { z } from "zod";
import { type Finding, passed, type ScanContext, wholeText } from "../../scan/scanner.ts";
import { FAILED } from "../../scan/score.ts";
import { decodeNumbers } from "../../text/encoded-numbers.ts";
import { findOverlap } from "../../text/overlap.ts";
import { overlapTest, type Span } from "../../text/span.ts";
import { defineScanner } from "../definition.ts";
import { redactions, withEdits } from "../parts/redaction.ts";
import {
  CANARY,
  NO_CANARY,
  TOKEN_LENGTH,
  tokensIn,
  type WrittenToken,
  withMarker,
  writtenForms,
} from "./canary-token.ts";

/**
 * The fewest consecutive characters of a token that count as the token.
 *
 * Ten have 50 bits, and a token has seven such runs in each of four ways of writing it, so that ten given characters are one of them
 * with a probability of at most 28 × 2^-50. A text of n letters and digits that does not know the token therefore fails with a
 * probability below n × 2^-45: 2^-30 for 32,000 of them, 2^-25 for a million, whatever they are. Each of its decoded views adds as
 * much for its own length.
 */
const LEAST = 10;

/** A place where a token was found. */
interface Leak extends Span {
  characters: number;
  view?: string;
}

export const Canary = defineScanner({
  type: "Canary",
  summary: "Fails texts that give away a canary: a random token that was planted in the system prompt.",
  description:
    "`plantCanary` adds a canary to a system prompt: `guard-canary-` and 16 random characters (80 bits), with the order never to " +
    "repeat it. An answer or a tool call that has it shows that the system prompt leaks.\n\n" +
    `At least ${LEAST} consecutive ones of the 16 characters fail a text, in either case, whatever stands between them, and also in ` +
    "base64, hexadecimal digits, percent encoding, rot13, backwards, in look-alike letters and in the other disguises that guard " +
    "undoes, and as numbers of characters: decimal, hexadecimal, octal and binary. The marker alone is no leak. A text of a million " +
    "random characters fails by chance with a probability of about 2^-25, and each decoded view of it adds as much.\n\n" +
    "Canaries come from the system and developer messages of the conversation, where they are recognized by their marker, and from " +
    "`canaries`. Without any, a text passes, and its coverage says that nothing of it was looked at. As an input scanner, it reads " +
    "the arguments of tool calls.",
  sides: { input: {}, output: {} },
  options: () => ({
    canaries: z
      .array(z.string().regex(CANARY, NO_CANARY))
      .default([])
      .describe(
        "Canaries, for texts that are scanned without their conversation. They are looked for besides those of the conversation.",
      ),
    redact: z.boolean().default(false).describe("Replaces what was found in a text that fails by [REDACTED]."),
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
      // A token may be spelled out, with something between its characters.
      streaming: { reads: "spans", span: 256, across: 128 },
      async check(text, context) {
        const tokens = tokensIn([...canaries, ...systemTexts(context)]);
        if (tokens.length === 0) {
          return passed(text, { chars: text.length, scannedChars: 0, truncated: true, windows: 0 });
        }
        const leaks = await leaksOf(text, tokens.flatMap(writtenForms), context.signal);
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

/** Finds tokens in a text, in its views, and in the numbers that it has. */
async function leaksOf(text: string, forms: readonly WrittenToken[], signal?: AbortSignal): Promise<Leak[]> {
  const options = { minimum: LEAST, count: "letters", signal } as const;
  const wanted = forms.map((form) => form.text);
  const readings = await decodeNumbers(text, LEAST, { signal });
  const [written, ...decoded] = await Promise.all([
    findOverlap(text, wanted, { ...options, deobfuscate: true }),
    ...readings.map((reading) => findOverlap(reading.text, wanted, options)),
  ]);
  const leaks = written.passages.map(({ start, end, words, other, view }): Leak => {
    const disguises = [view ?? spacedOut(text.slice(start, end)), forms[other]?.view];
    const isTurned = forms[other]?.view !== undefined;
    return leak({ start: isTurned ? start : withMarker(text, start), end }, words, disguises);
  });
  for (const [index, { passages }] of decoded.entries()) {
    const reading = readings[index];
    if (!reading) continue;
    const isKnown = overlapTest(leaks);
    let reached = 0;
    for (const { start, end, words, other } of passages) {
      const span = reading.locate({ start, end });
      // The views know several ways of writing numbers, too.
      if (span.start < reached || isKnown(span)) continue;
      reached = span.end;
      leaks.push(leak(span, words, [reading.view, forms[other]?.view]));
    }
  }
  return leaks;
}

function leak(span: Span, letters: number, disguises: readonly (string | undefined)[]): Leak {
  const view = disguises.filter((name) => name !== undefined).join(">");
  // Forms that look alike may follow one another within one passage.
  return { ...span, characters: Math.min(letters, TOKEN_LENGTH), ...(view === "" ? {} : { view }) };
}

/** Returns the name of the view for a passage with something between its letters. */
function spacedOut(passage: string): string | undefined {
  return /^[0-9A-Za-z]+$/.test(passage) ? undefined : "spaced";
}
