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

/**
 * The number of letters in the words of a string, which may be joined by other characters. Digits and hexadecimal digits are not words, nor are
 * letters beside digits, as in ids. Scripts other than Latin say more in fewer letters, so each of their letters counts as three.
 */
function wordLength(value: string): number {
  let length = 0;
  for (const segment of value.split(/[^\p{L}\p{N}]+/u)) {
    if (/^[\da-f]*$/i.test(segment)) continue;
    const isId = /\p{N}/u.test(segment);
    for (const [word] of segment.matchAll(/\p{L}+/gu)) {
      const isLatin = /^\p{Script=Latin}+$/u.test(word);
      if (!isLatin) length += 3 * word.length;
      else if (!isId || /[a-z]{4}|[A-Z]{5}/.test(word)) length += word.length;
    }
  }
  return length;
}

/** Fewer letters are not an instruction: `ignore_all_previous` has 17. */
const MIN_PHRASE_LENGTH = 20;

/** Whether a string has as many words as an instruction, with or without white space between them. */
export function hasManyWords(value: string): boolean {
  return wordLength(value) >= MIN_PHRASE_LENGTH;
}

/** Whether an id or another value for programs may be an instruction: it has white space or many words. */
export function isPhrase(value: string): boolean {
  return /\s/.test(value) || hasManyWords(value);
}

/** The characters of identifiers, in any Latin alphabet. */
const PLAIN_KEY = /^[\p{Script=Latin}\p{Nd}_$.:@/#-]*$/u;

/** A longer key is read as text. `ignore_all_previous_instructions` has 32 characters. */
const MAX_PLAIN_KEY_LENGTH = 30;

/** Whether a JSON key or another identifier may be prose: it is long, or has characters that identifiers do not have. */
export function isProse(key: string): boolean {
  return key.length > MAX_PLAIN_KEY_LENGTH || !PLAIN_KEY.test(key);
}

/** Ids, hashes and times, which have no words. */
const WORDLESS = /^[\da-f:.+TZ_-]*$/i;

/** A mail address, which is personal data. */
const MAIL_ADDRESS = /@[\w-]+\.\w/;

/** Whether the value of a request's field without a reader is a string that may contain an instruction or a mail address. */
export function isFieldText(value: unknown): boolean {
  return typeof value === "string" && ((isProse(value) && !WORDLESS.test(value)) || MAIL_ADDRESS.test(value));
}

/** Printable ASCII without white space: ids, names, addresses, hashes and encoded files. */
const ASCII_WORD = /^[\x21-\x7e]*$/;

/**
 * Whether a string in a field of an answer without a reader is text: it has white space, characters of other scripts, many words, or an @ as in
 * mail addresses.
 */
export function isAnswerText(value: string): boolean {
  return !ASCII_WORD.test(value) || value.includes("@") || isPhrase(value);
}
