/**
 * How a model reads a text that may be longer than its maximum input length: all of it in overlapping windows, its beginning,
 * each sentence, its beginning and end in tokens or in characters, or pieces of 256 characters.
 */
export const READINGS = [
  "windows",
  "full",
  "sentence",
  "truncate_token_head_tail",
  "truncate_head_tail",
  "chunks",
] as const;
export type Reading = (typeof READINGS)[number];
