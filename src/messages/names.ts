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

/** A run of letters, with its separators removed. Letters of scripts other than Latin say more. */
const WORDS = /\p{L}+/gu;

/**
 * The number of letters in the words of a string, which may be joined by other characters. Digits and hexadecimal digits are not words, nor are
 * letters beside digits, as in ids.
 */
export function wordLength(value: string): number {
  let length = 0;
  for (const segment of value.split(/[^\p{L}\p{N}]+/u)) {
    if (/^[\da-f]*$/i.test(segment)) continue;
    const isId = /\p{N}/u.test(segment);
    for (const [word] of segment.matchAll(WORDS)) {
      const isLatin = /^\p{Script=Latin}+$/u.test(word);
      if (!isLatin) length += 3 * word.length;
      else if (!isId || /[a-z]{4}|[A-Z]{5}/.test(word)) length += word.length;
    }
  }
  return length;
}

/** Fewer letters are not an instruction: `ignore_all_previous` has 17. */
const MIN_PHRASE_LENGTH = 20;

/** Whether an id or another value for programs may be an instruction: it has white space or many words. */
export function isPhrase(value: string): boolean {
  return /\s/.test(value) || wordLength(value) >= MIN_PHRASE_LENGTH;
}

/** The characters of identifiers, in any Latin alphabet. */
const PLAIN_KEY = /^[\p{Script=Latin}\p{Nd}_$.:@/#-]*$/u;

/** A longer key is read as text. `ignore_all_previous_instructions` has 32 characters. */
const MAX_PLAIN_KEY_LENGTH = 30;

/** Whether a JSON key or another identifier may be prose: it is long, or has characters that identifiers do not have. */
export function isProse(key: string): boolean {
  return key.length > MAX_PLAIN_KEY_LENGTH || !PLAIN_KEY.test(key);
}
