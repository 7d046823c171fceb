import type { ModelHead } from "../native.ts";
import type { Span } from "../text/span.ts";
import type { CallContext, TextClassifier } from "./call-context.ts";

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
  model: TextClassifier,
  head: ModelHead,
  context: CallContext,
): Promise<Span[] | undefined> {
  const { answers } = context;
  if (!answers?.expectsOnly(model.identity, head.name)) return undefined;
  for (const { model: other, head: read, everyText } of answers.queries) {
    if (!everyText) continue;
    // What a model screens for is known when it is loaded.
    const { heads } = await other.described(context);
    const screen = screenFor(model, head.name, other);
    if (screen === undefined) continue;
    const index = heads.findIndex(({ name }) => name === screen);
    // It is asked as its own scanner asks it, so that the two share the answer.
    const own = heads.find(({ name }) => name === read);
    const view = everyText.read(text);
    const { parts, skippedChars } = await other.classify(view, { strategy: everyText.strategy, head: own }, context);
    // What is not a number is not below a threshold either: the model is asked then.
    const isSure = parts.every(({ heads }) => (heads[index]?.[0] ?? Number.NaN) <= POSSIBLE);
    return isSure && parts.length > 0 && skippedChars === 0
      ? parts.map(({ start, end }) => ({ start, end }))
      : undefined;
  }
  return undefined;
}

/**
 * The head by which `other` tells that a head of `model` would surely find nothing. Undefined where it learnt that of no such head, or of
 * another version of the model.
 */
function screenFor(model: TextClassifier, head: string, other: TextClassifier): string | undefined {
  const found = other.about.screens?.find((screen) => screen.for === head);
  if (!found) return undefined;
  const { name, version } = model.about;
  return found.model === name && found.version === version ? found.head : undefined;
}
