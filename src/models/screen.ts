import type { ModelHead } from "../native.ts";
import type { Span } from "../text/span.ts";
import type { AnswerCache } from "./answer-cache.ts";
import type { TextModel } from "./text-model.ts";

/** A part goes on to the model that is screened when the screen's probability that it would find something is above this. */
const POSSIBLE = 0.5;

/**
 * Asks whether a head of a model would surely find nothing in a text, of another model that the scanners of the call ask about it anyway.
 * Texts are then read by one model instead of two, which is a cascade (Viola and Jones, 2001, "Rapid object detection using a boosted
 * cascade of simple features"). `training/screen.py` says how a model learns to screen texts for another one.
 *
 * @returns the parts in which the text was screened; undefined when the model itself has to be asked: because some part may hold
 *   something, because no model of the call screens for it, or because other scanners of the call ask more of it than this head.
 */
export async function screened(
  text: string,
  model: TextModel,
  head: ModelHead,
  answers: AnswerCache,
  signal?: AbortSignal,
): Promise<Span[] | undefined> {
  if (!answers.expectsOnly(model.identity, head.name)) return undefined;
  for (const { model: other, everyText } of answers.expected) {
    if (!everyText) continue;
    const screen = other.screenFor(model, head.name);
    if (screen === undefined) continue;
    const { heads } = await other.described(signal);
    const index = heads.findIndex(({ name }) => name === screen);
    const { parts, skippedChars } = await other.classify(everyText.read(text), everyText.reading, signal, answers);
    // What is not a number is not below a threshold either: the model is asked then.
    const isSure = parts.every(({ heads }) => (heads[index]?.[0] ?? Number.NaN) <= POSSIBLE);
    return isSure && parts.length > 0 && skippedChars === 0
      ? parts.map(({ start, end }) => ({ start, end }))
      : undefined;
  }
  return undefined;
}
