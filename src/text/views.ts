import { addon, native } from "../native.ts";
import type { Span } from "./span.ts";

/** The part of a text that a part of a view was made from. */
export interface SourceSpan extends Span {
  /** What was undone to read it: `normalized`, `base64`, `base64>rot13`, ... What was undone first stands first. */
  view: string;
}

/** A decoded form of a text, in which hidden content is looked for. */
export interface View {
  /** What the view says. */
  readonly text: string;
  /**
   * Whether a model may be shown the view in place of the text, whose disguise alone it could mistake for an attack. It is a view
   * of all of the text, and nothing in it was made from plain words.
   */
  readonly replacesText: boolean;
  /** Where spans of the view come from in the text, in the same order. */
  locate(spans: Span[]): SourceSpan[];
}

/**
 * The views of a text that say what the text, as it is written, does not: with encoded pieces decoded, look-alike and invisible
 * characters replaced, and so on. They are few and of bounded length, so that a model can read them besides the text. A text that
 * hides nothing has none.
 */
export async function revealingViews(text: string): Promise<View[]> {
  const views = await native(() => addon.revealingViews(text));
  // Reading a property of the addon's objects copies the text: it is read once here, and not by each scanner.
  return views.map((view) => ({
    text: view.text,
    replacesText: view.replacesText,
    locate: (spans) => view.locate(spans),
  }));
}
