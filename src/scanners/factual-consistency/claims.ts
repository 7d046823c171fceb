import type { Abortable } from "../../native.ts";
import { type Sentence, splitSentences } from "../../text/sentences.ts";

/**
 * Returns the statements of an output: its sentences without questions, and without pieces that have no letters or digits, such as a line
 * of dashes.
 */
export async function claimsOf(text: string, abortable: Abortable = {}): Promise<Sentence[]> {
  return (await splitSentences(text, abortable))
    .flatMap((sentence) => (QUESTION.test(sentence.text) ? statementsBeforeQuestion(sentence) : [sentence]))
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
}

const QUESTION = /[?？؟]["'”’»」』)）]*$/u;
/** Matches the beginning of a quotation, but no apostrophe after a letter. */
const OPENING = /["“”«„「『]|(?<=[\s:：])['‘]/gu;
/**
 * Matches the end of a statement before a question in the same sentence. A full stop after a short word does not count, because the word
 * may be an abbreviation.
 */
const BEFORE = /\n|[;；]|(?<=\p{L}{4}[.!])\s/gu;

/**
 * Returns the statements of a sentence before the question at its end. A sentence that reports a question (She asked: "Why?") is a
 * statement as a whole.
 */
function statementsBeforeQuestion(sentence: Sentence): Sentence[] {
  if (isReported(sentence.text)) return [sentence];
  const claims: Sentence[] = [];
  let from = 0;
  for (const { 0: gap, index } of sentence.text.matchAll(BEFORE)) {
    const piece = sentence.text.slice(from, index);
    const start = sentence.start + from + (piece.length - piece.trimStart().length);
    const text = piece.trim();
    claims.push({ start, end: start + text.length, text });
    from = index + gap.length;
  }
  return claims;
}

/** Tells whether a sentence has words before the quotation that contains its question. */
function isReported(text: string): boolean {
  const at = text.search(QUESTION);
  if (!/["'”’»」』]/u.test(text.slice(at))) return false;
  const opening = [...text.slice(0, at).matchAll(OPENING)].at(-1);
  return opening !== undefined && /\p{L}/u.test(text.slice(0, opening.index));
}
