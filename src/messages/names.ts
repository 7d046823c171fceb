/** Words of Latin letters and digits, with one sign between two of them. */
const TWO_WORDS = /^[\p{Script=Latin}\d]+(?:[ _.-][\p{Script=Latin}\d]+)?$/u;

/** The sign in the middle of `searchPages`, where a second word begins. */
const INNER_CAPITAL = /\p{Ll}\p{Lu}/gu;

/**
 * Whether a name is too short to carry an order: at most two words and 24 characters, all of them Latin letters and digits, since
 * other scripts say more with fewer signs. `alice`, `Bob_Smith` and `getWeather` are plain, `ignore_all_previous_instructions` is not.
 */
export function isPlainName(name: string): boolean {
  if (name.length > 24 || !TWO_WORDS.test(name)) return false;
  return name.split(/[ _.-]/).length + (name.match(INNER_CAPITAL)?.length ?? 0) <= 2;
}

/** What keys of programs consist of, in any Latin alphabet. */
const PLAIN_KEY = /^[\p{Script=Latin}\p{Nd}_$.:@/#-]*$/u;

/** A key longer than this is read. `ignore_all_previous_instructions` has 32 characters. */
const LONGEST_PLAIN_KEY = 30;

/** Whether a key of JSON, or another word that programs choose, could be prose: it is long, or has other signs than identifiers have. */
export function isProse(key: string): boolean {
  return key.length > LONGEST_PLAIN_KEY || !PLAIN_KEY.test(key);
}
