// Texts of an exact number of tokens. The seed determines them. Every word is one token in the vocabulary of the embedded models, so
// `tokenizer` returns the same token ids as guard's tokenizer.
import { readFileSync } from "node:fs";
import { SENTENCES, wordsAndMarks } from "./prompts.mjs";
import { random } from "./random.mjs";

const TOKENIZER = new URL("../../models/words/tokenizer.json", import.meta.url);
/** SentencePiece marks the space before a word with this character. */
const MARKER = "\u2581";
let ids;
let words;

/**
 * Returns a generator of texts of exactly `tokens` tokens of the embedded models, including the two special ones. guard's engine reads a
 * phrase that stands three times in a row only once, so a word never equals one of the two before it.
 */
export function textsOfLength(tokens, seed) {
  const next = random(seed);
  const words = wholeWords();
  return () => {
    const chosen = [];
    while (chosen.length < tokens - 2) {
      const word = words[Math.floor(next() * words.length)];
      if (!chosen.slice(-2).includes(word)) chosen.push(word);
    }
    return chosen.join(" ");
  };
}

/** Returns a function that maps a text of `textsOfLength` to its token ids. It throws for a word that is not one token. */
export function tokenizer() {
  const id = (piece) => {
    const found = vocabulary().get(piece);
    if (found === undefined) throw new Error(`${piece} is not a token of the embedded models`);
    return found;
  };
  return (text) => [id("<s>"), ...text.split(" ").map((word) => id(MARKER + word)), id("</s>")];
}

/** The words of the sentences that are a single token when a space precedes them. */
function wholeWords() {
  words ??= SENTENCES.flatMap(wordsAndMarks).filter((piece) => /^\w+$/.test(piece) && vocabulary().has(MARKER + piece));
  // Nearly all words are whole tokens. If few are, the vocabulary has another form than this file assumes.
  if (words.length < 300) throw new Error(`only ${words.length} words are whole tokens of the embedded models`);
  return words;
}

/** Token ids by token. All embedded models share one vocabulary. */
function vocabulary() {
  if (!ids) {
    const { type, vocab } = JSON.parse(readFileSync(TOKENIZER, "utf8")).model;
    if (type !== "Unigram") throw new Error(`the embedded models have a ${type} tokenizer: change this file`);
    ids = new Map(vocab.map(([piece], index) => [piece, index]));
  }
  return ids;
}
