/**
 * Default limits of held text and of the kept part of an answer. 240 characters are a sentence of about forty words; few are longer.
 * 65,536 characters are about 16,000 tokens, more than most models answer at once.
 */
export const HOLDBACK = { chars: 240, milliseconds: 2000, whole: 65_536 };
