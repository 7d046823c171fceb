/** One or two words of Latin letters and digits, with one separator. */
const TWO_WORDS = /^[\p{Script=Latin}\d]+(?:[ _.-][\p{Script=Latin}\d]+)?$/u;

/** The start of the second word in `searchPages`. */
const INNER_CAPITAL = /\p{Ll}\p{Lu}/gu;

/**
 * Whether a name is too short to contain an instruction: at most two words and 24 characters, all Latin letters and digits, because other
 * scripts say more in fewer characters. `alice`, `Bob_Smith` and `getWeather` are plain, `ignore_all_previous_instructions` is not.
 */
export function isPlainName(name: string): boolean {
  if (name.length > 24 || !TWO_WORDS.test(name)) return false;
  return name.split(/[ _.-]/).length + (name.match(INNER_CAPITAL)?.length ?? 0) <= 2;
}

/** The characters of identifiers, in any Latin alphabet. */
const PLAIN_KEY = /^[\p{Script=Latin}\p{Nd}_$.:@/#-]*$/u;

/** A longer key is read as text. `ignore_all_previous_instructions` has 32 characters. */
const MAX_PLAIN_KEY_LENGTH = 30;

/** Whether a JSON key or another identifier may be prose: it is long, or has characters that identifiers do not have. */
export function isProse(key: string): boolean {
  return key.length > MAX_PLAIN_KEY_LENGTH || !PLAIN_KEY.test(key);
}
