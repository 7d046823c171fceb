import type { ModelHead } from "../native.ts";
import type { Span } from "../text/span.ts";
import type { CallContext, TextClassifier } from "./call-context.ts";

/** A part is passed to the screened model if the screen's probability that the model would find something is above this. */
const THRESHOLD = 0.5;

/**
 * Screens a text for a head of a model: another model, which the scanners of the call run anyway, predicts whether the head would surely
 * find nothing. Then one model reads the text instead of two, which makes a cascade (Viola and Jones, 2001, "Rapid object detection using
 * a boosted cascade of simple features"). `training/screen.py` trains a model to screen for another one.
 *
 * @returns the screened parts, or undefined if the model itself must run: some part may contain something, no model of the call screens
 *   for it, or other scanners of the call read more heads of it.
 */
export async function screenText(
  text: string,
  model: TextClassifier,
  head: ModelHead,
  context: CallContext,
): Promise<Span[] | undefined> {
  const { answers } = context;
  if (!answers?.expectsOnly(model.identity, head.name)) return undefined;
  for (const { model: other, head: read, everyText } of answers.queries) {
    if (!everyText) continue;
    // The metadata of a model, and so what it screens for, is known once it is loaded.
    const { heads } = await other.describe(context);
    const screen = findScreen(model, head.name, other);
    if (screen === undefined) continue;
    const index = heads.findIndex(({ name }) => name === screen);
    // The call is the same as that of the other model's own scanner, so that both share the answer.
    const own = heads.find(({ name }) => name === read);
    const view = everyText.read(text);
    const { parts, skippedChars } = await other.classify(view, { strategy: everyText.strategy, head: own }, context);
    // NaN is not below the threshold, so the screened model runs.
    const isSure = parts.every(({ heads }) => (heads[index]?.[0] ?? Number.NaN) <= THRESHOLD);
    return isSure && parts.length > 0 && skippedChars === 0
      ? parts.map(({ start, end }) => ({ start, end }))
      : undefined;
  }
  return undefined;
}

/** Returns the head of `other` that screens for a head of `model`, or undefined if it was not trained for this version of the model. */
function findScreen(model: TextClassifier, head: string, other: TextClassifier): string | undefined {
  const found = other.about.screens?.find((screen) => screen.for === head);
  if (!found) return undefined;
  const { name, version } = model.about;
  return found.model === name && found.version === version ? found.head : undefined;
}
