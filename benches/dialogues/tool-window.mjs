/**
 * The maximum length of joined results in UTF-16 code units, about two windows of the model. An order that is split over longer texts
 * can't be told from the text between its pieces.
 */
const MAX_JOINED_LENGTH = 1000;

/**
 * Joins the tool results of one turn, because an attacker who controls several results may split an instruction over them.
 *
 * @param {readonly string[]} texts the results that the model is about to read, the oldest first.
 * @param {number} maxLength the maximum length of the joined text. If the results are longer, the latest that fit are joined.
 * @returns {string | undefined} the results joined by line breaks, or undefined if fewer than two fit.
 */
export function toolWindow(texts, maxLength = MAX_JOINED_LENGTH) {
  /** @type {string[]} */
  const joined = [];
  let length = 0;
  for (const text of texts.toReversed()) {
    if (text.trim() === "") continue;
    length += text.length + 1;
    if (length > maxLength + 1) break;
    joined.unshift(text);
  }
  return joined.length > 1 ? joined.join("\n") : undefined;
}
