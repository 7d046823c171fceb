import { TimeSlice } from "../support/time-slice.ts";

/** The number of texts of one conversation that are scanned concurrently, so that a long conversation does not fill the queue of a model. */
const PARALLEL_TEXTS = 8;

/**
 * Calls `read` with every text, a few concurrently. After the first failure it starts no further call. Short texts are scanned
 * synchronously, so it yields to the event loop after each time slice.
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
