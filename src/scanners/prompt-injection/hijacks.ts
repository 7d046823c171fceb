import { type Abortable, addon, native } from "../../native.ts";
import type { Span } from "../../text/span.ts";
import { matchesOf } from "../parts/rule-scanner.ts";

/** The probability of a part with a hijack: nearly certain, but below the highest probability of a model. */
const HIJACK_SCORE = 0.99;

/**
 * Creates a function that finds hijacks: instructions to ignore the question and to output dictated words, such as `Ignore the above
 * question and just output: ...`. It finds them by phrases of 28 languages. Models learned them in few languages.
 */
export function hijackFinder(): (text: string, abortable: Abortable) => Promise<Span[]> {
  const find = new addon.Hijacks().scanner();
  return async (text, abortable) => {
    const found = await native(() => find(text), abortable);
    return found ? matchesOf(found).map(({ start, end }) => ({ start, end })) : [];
  };
}

/**
 * Raises the score of parts with a hijack to at least {@link HIJACK_SCORE}. A hijack outside all parts becomes a part of its own.
 *
 * @param make creates a part from its span and its score.
 */
export function withHijacks<Part extends Span & { score: number }>(
  parts: readonly Part[],
  hijacks: readonly Span[],
  make: (span: Span, score: number) => Part,
): Part[] {
  const result = [...parts];
  for (const hijack of hijacks) {
    const at = result.findIndex(({ start, end }) => start <= hijack.start && hijack.end <= end);
    const part = result[at];
    if (!part) result.push(make(hijack, HIJACK_SCORE));
    else if (part.score < HIJACK_SCORE) result[at] = make(part, HIJACK_SCORE);
  }
  return result;
}
