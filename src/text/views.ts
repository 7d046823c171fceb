import { type Abortable, addon, native } from "../native.ts";
import type { Span } from "./span.ts";

/** The part of a text that a part of a view was decoded from. */
export interface SourceSpan extends Span {
  /** The decodings in order, first one first: `normalized`, `base64`, `base64>rot13`, ... */
  view: string;
}

/** A decoded form of a text, which scanners read to find hidden content. */
export interface View {
  /** The decoded text. */
  readonly text: string;
  /**
   * Whether a model may read this view instead of the text, because a model could take the obfuscation itself for an attack. It is true
   * only if the view covers the whole text and decoding changed no plain words.
   */
  readonly canReplaceText: boolean;
  /** The encoded parts of the text that neither a reader nor a model can read, such as base64, in order: start and end of each. */
  readonly encoded: Uint32Array;
  /** Maps spans of the view to the spans of the text that they were decoded from, in the same order. */
  locate(spans: Span[]): SourceSpan[];
}

/**
 * Returns the views of a text that reveal hidden content: encoded pieces are decoded, look-alike and invisible characters are replaced,
 * and so on. A text that hides nothing has none. Their number and length are bounded, so that a model can read them besides the text.
 */
export async function decodeViews(text: string, abortable: Abortable = {}): Promise<View[]> {
  const views = await native(() => addon.revealingViews(text), abortable);
  // Reading a property of an object of the addon copies the text, so it is read once here and not by each scanner.
  return views.map((view) => ({
    text: view.text,
    canReplaceText: view.replacesText,
    encoded: view.encoded,
    locate: (spans) => view.locate(spans),
  }));
}
