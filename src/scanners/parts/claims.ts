import { type Sentence, splitSentences } from "../../text/sentences.ts";

/** What of an output may be wrong: its sentences, without their questions, and without such as a rule of dashes. */
export async function claimsOf(text: string): Promise<Sentence[]> {
  return (await splitSentences(text))
    .flatMap((sentence) => (QUESTION.test(sentence.text) ? beforeQuestion(sentence) : [sentence]))
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
}

const QUESTION = /[?？؟]["'”’»」』)）]*$/u;
/** Where a quotation begins; what else an apostrophe stands for is behind a letter. */
const OPENING = /["“”«„「『]|(?<=[\s:：])['‘]/gu;
/** Where a sentence that ends with a question says something before it. A full stop behind a short word may be an abbreviation's. */
const BEFORE = /\n|[;；]|(?<=\p{L}{4}[.!])\s/gu;

/** What a sentence says before the question that it ends with; all of it where it tells what was asked. */
function beforeQuestion(sentence: Sentence): Sentence[] {
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

/** Whether a sentence says something before the quotation that its question is in. */
function isReported(text: string): boolean {
  const at = text.search(QUESTION);
  if (!/["'”’»」』]/u.test(text.slice(at))) return false;
  const opening = [...text.slice(0, at).matchAll(OPENING)].at(-1);
  return opening !== undefined && /\p{L}/u.test(text.slice(0, opening.index));
}
