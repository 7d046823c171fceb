// A classifier for prompt injections. Each suspicious phrase raises the probability. A real classifier calls a model.

const PHRASES = [/open sesame/i, /say the magic word/i, /forget what you were told/i];

/** @type {import("guard-scan").InjectionClassifier} */
export async function classify(text, { signal }) {
  signal?.throwIfAborted();
  const found = PHRASES.filter((phrase) => phrase.test(text)).length;
  return { score: 1 - 0.05 ** found, category: found > 0 ? "magic" : "harmless" };
}
