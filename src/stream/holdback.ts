/**
 * How long text is held back, and how much of an answer is kept, unless options say otherwise. 240 characters are a sentence of some
 * forty words; few are longer. 65,536 characters are some 16,000 tokens, more than most models answer at once.
 */
export const HOLDBACK = { chars: 240, milliseconds: 2000, whole: 65_536 };
