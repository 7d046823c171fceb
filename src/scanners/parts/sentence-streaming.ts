import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import type { PartStreaming } from "../../scan/scanner.ts";

/** How many UTF-16 code units before a part are read again by models that read more than a sentence at once. */
const OVERLAP = 400;

/**
 * Returns how a scanner with a model reads a streamed answer. A model that reads sentences scores each sentence once. A model that reads
 * windows reads new text together with the sentences before it. The other strategies need the whole answer.
 */
export function streamingOf(strategy: LongTextStrategy): PartStreaming | undefined {
  if (strategy === "sentence") return { reads: "sentences", overlap: 0 };
  return strategy === "windows" || strategy === "chunks" ? { reads: "sentences", overlap: OVERLAP } : undefined;
}
