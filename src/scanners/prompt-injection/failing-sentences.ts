import type { CallContext } from "../../models/call-context.ts";
import { type Sentence, splitSentences } from "../../text/sentences.ts";
import { type ScoredText, worstPart } from "../parts/scored-text.ts";
import type { InjectionPart } from "./injection-part.ts";

/** How many sentences of a text are read by themselves at most. The parts with further sentences stay whole. */
const MAX_SENTENCES = 64;

/**
 * Narrows failing parts of a text to their failing sentences, which are read by themselves. A part stays whole if it is a part of a view, has
 * one sentence only, or if no sentence fails without the others. The kind of attack is that of the part. The verdict does not depend on the
 * result.
 *
 * @param score scores a sentence like the text.
 */
export async function failingSentences(
  text: string,
  parts: readonly InjectionPart[],
  threshold: number,
  score: (sentence: string) => Promise<ScoredText<InjectionPart>>,
  context: CallContext,
): Promise<InjectionPart[]> {
  const found = new Map<string, InjectionPart>();
  let read = 0;
  for (const part of parts) {
    const sentences = part.view === undefined ? await splitSentences(text.slice(part.start, part.end), context) : [];
    const fits = sentences.length > 1 && read + sentences.length <= MAX_SENTENCES;
    if (fits) read += sentences.length;
    const failing = fits ? await failingOf(sentences) : [];
    const narrowed = failing.map(({ sentence: { start, end }, score }): InjectionPart => {
      return { ...part, score, start: part.start + start, end: part.start + end };
    });
    // Windows overlap, so two of them may have the same sentence.
    for (const one of narrowed.length > 0 ? narrowed : [part]) {
      const key = `${one.start} ${one.end} ${one.view ?? ""}`;
      const known = found.get(key);
      if (!known || known.score < one.score) found.set(key, one);
    }
  }
  return [...found.values()].sort((a, b) => a.start - b.start);

  async function failingOf(sentences: readonly Sentence[]) {
    const scored = await Promise.all(
      sentences.map(async (sentence) => {
        const { parts, others } = await score(sentence.text);
        return { sentence, score: worstPart([...parts, ...others])?.score ?? 0 };
      }),
    );
    return scored.filter(({ score }) => score > threshold);
  }
}
