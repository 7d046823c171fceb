// Prompts made of the sentences in haystacks/sentences.txt. The seed determines them.
import { readFileSync } from "node:fs";
import { random } from "./random.mjs";

export const SENTENCES = readFileSync(new URL("../haystacks/sentences.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");

/** Returns a generator of prompts of 10 to 300 words. Most of them are short, as real prompts are. */
export function prompts(seed) {
  const next = random(seed);
  return () => {
    const wanted = 10 + 290 * next() ** 2;
    const chosen = [];
    for (let words = 0; words < wanted; ) {
      const sentence = SENTENCES[Math.floor(next() * SENTENCES.length)];
      chosen.push(sentence);
      words += wordsAndMarks(sentence).length;
    }
    return chosen.join(" ").split(" ").slice(0, Math.round(wanted)).join(" ");
  };
}

/** The words and punctuation marks of a text, in lower case. */
export function wordsAndMarks(text) {
  return text.toLowerCase().match(/\w+|[^\w\s]/g);
}
