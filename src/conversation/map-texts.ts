import { TimeSlice } from "../support/time-slice.ts";

/**
 * How many texts of one conversation are scanned at the same time. The limit keeps one long conversation from filling the queue of
 * a model.
 */
const PARALLEL_TEXTS = 8;

/**
 * Calls `read` with every text, a few at a time. After the first failure no further text is read. Thousands of short texts are worked on
 * in time slices: each of them is scanned at once, so that nothing else would let the event loop go on.
 *
 * @param slice the time slice of the call, which several lists of texts share.
 */
export async function mapTexts<T, Text>(
  texts: readonly Text[],
  read: (text: Text) => Promise<T>,
  slice = new TimeSlice(),
): Promise<T[]> {
  const results = new Array<T>(texts.length);
  let next = 0;
  const work = async () => {
    for (;;) {
      if (slice.isOver) await slice.next();
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
