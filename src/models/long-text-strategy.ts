/**
 * How a model reads a text that is longer than its maximum input length. llm-guard calls this `match_type`.
 *
 * - `windows`: the whole text, in overlapping windows; the worst one counts.
 * - `full`: the beginning.
 * - `sentence`: each sentence by itself.
 * - `truncate_token_head_tail`: the beginning and the end, counted in tokens.
 * - `truncate_head_tail`: the beginning and the end, counted in characters.
 * - `chunks`: pieces of 256 characters.
 */
export const LONG_TEXT_STRATEGIES = [
  "windows",
  "full",
  "sentence",
  "truncate_token_head_tail",
  "truncate_head_tail",
  "chunks",
] as const;
export type LongTextStrategy = (typeof LONG_TEXT_STRATEGIES)[number];
