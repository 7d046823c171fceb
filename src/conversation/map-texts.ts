/**
 * How many texts of one conversation are scanned at the same time. The limit keeps one long conversation from filling the queue of
 * a model.
 */
const PARALLEL_TEXTS = 8;

/** Calls `read` with every text, a few at a time. After the first failure no further text is read. */
export async function mapTexts<T, Text>(texts: readonly Text[], read: (text: Text) => Promise<T>): Promise<T[]> {
  const results = new Array<T>(texts.length);
  let next = 0;
  const work = async () => {
    while (next < texts.length) {
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
