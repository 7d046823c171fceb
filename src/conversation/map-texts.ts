import { Turns } from "../support/turns.ts";

/**
 * How many texts of one conversation are scanned at the same time. The limit keeps one long conversation from filling the queue of
 * a model.
 */
const PARALLEL_TEXTS = 8;

/**
 * Calls `read` with every text, a few at a time. After the first failure no further text is read. Thousands of short texts are worked on
 * in turns: each of them is scanned at once, so that nothing else would let the event loop go on.
 *
 * @param turns the turns of the call, where several lists of texts have theirs together.
 */
export async function mapTexts<T, Text>(
  texts: readonly Text[],
  read: (text: Text) => Promise<T>,
  turns = new Turns(),
): Promise<T[]> {
  const results = new Array<T>(texts.length);
  let next = 0;
  const work = async () => {
    for (;;) {
      if (turns.isOver) await turns.next();
      if (next >= texts.length) return;
      const index = next++;
      try {
        results[index] = await read(texts[index] as Text);
      } catch (error) {
        next = texts.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_TEXTS, texts.length) }, work));
  return results;
}
