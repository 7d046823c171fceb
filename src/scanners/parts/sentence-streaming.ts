import type { LongTextStrategy } from "../../models/long-text-strategy.ts";
import type { PartStreaming } from "../../scan/scanner.ts";

/** How much text before a part is read again by models that read more than a sentence at once. */
const OVERLAP = 400;

/**
 * Returns how a scanner that judges by a model reads an answer that arrives in pieces. A model that reads sentences says the same of
 * them whenever it reads them. One that reads windows is given what is new together with the sentences before it. Readings of the
 * beginning, or of the beginning and the end, need the whole answer.
 */
export function streamingOf(reading: LongTextStrategy): PartStreaming | undefined {
  if (reading === "sentence") return { reads: "sentences", overlap: 0 };
  return reading === "windows" || reading === "chunks" ? { reads: "sentences", overlap: OVERLAP } : undefined;
}
