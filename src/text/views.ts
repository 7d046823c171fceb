import { type Abortable, addon, native } from "../native.ts";
import type { Span } from "./span.ts";

/** The part of a text from which a part of a view was made. */
export interface SourceSpan extends Span {
  /**
   * The disguises that were undone to make it: `normalized`, `base64`, `base64>rot13`, ... The one that was undone first comes
   * first.
   */
  view: string;
}

/** A decoded form of a text, in which hidden content is looked for. */
export interface View {
  /** The decoded text. */
  readonly text: string;
  /**
   * Whether a model may read this view instead of the text. A model could take the disguise of the text, by itself, for an attack.
   * This is true only when the view covers the whole text and no plain words were changed to make it.
   */
  readonly replacesText: boolean;
  /** Returns the span of the text that each span of the view comes from, in the same order. */
  locate(spans: Span[]): SourceSpan[];
}

/**
 * Returns the views of a text that show something which the text, as it is written, does not: encoded pieces are decoded,
 * look-alike and invisible characters are replaced, and so on. There are only a few of them and their length is bounded, so that a
 * model can read them besides the text. A text that hides nothing has no such views.
 */
export async function revealingViews(text: string, abortable: Abortable = {}): Promise<View[]> {
  const views = await native(() => addon.revealingViews(text), abortable);
  // Reading a property of one of the addon's objects copies the text. It is therefore read once here, and not by each scanner.
  return views.map((view) => ({
    text: view.text,
    replacesText: view.replacesText,
    locate: (spans) => view.locate(spans),
  }));
}
