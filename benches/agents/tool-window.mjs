/**
 * Texts that are longer together are not joined: in UTF-16 code units, about two windows of the model that reads them. An order that
 * was split over long documents cannot be told from what stands between its pieces.
 */
const LONGEST_JOINED = 1000;

/**
 * Returns the tool results of one turn as one text, for the scanners that judge each of them, because an attacker who controls several
 * results may split an instruction over them.
 *
 * @param {readonly string[]} texts the results that the model is about to read, with the oldest first.
 * @param {number} longest the most UTF-16 code units of the joined text; of more, the latest results that fit are joined.
 * @returns {string | undefined} the results joined by line breaks, or undefined when fewer than two fit.
 */
export function toolWindow(texts, longest = LONGEST_JOINED) {
  /** @type {string[]} */
  const joined = [];
  let length = 0;
  for (const text of texts.toReversed()) {
    if (text.trim() === "") continue;
    length += text.length + 1;
    if (length > longest + 1) break;
    joined.unshift(text);
  }
  return joined.length > 1 ? joined.join("\n") : undefined;
}
