// Splits a text where findings start and end. Offsets are Unicode code points, as in the API: 😀 is one.

/**
 * @typedef {import("./session.js").Finding} Finding
 * @typedef {{ scanner: string, finding: Finding, start: number, end: number }} Placed A finding with its range in a text.
 * @typedef {{ text: string, covering: Placed[], ending: Placed[] }} Segment A part of a text, the findings that cover
 *   it, narrowest first, and those that end with it.
 */

/** Returns the number of code points. @param {string} text */
export function lengthOf(text) {
  return Array.from(text).length;
}

/**
 * Returns the parts of a text between the starts and ends of findings. Joined, they are the text.
 *
 * @param {string} text
 * @param {readonly Placed[]} placed findings in any order, which may overlap. Ends are clamped to the text, and empty findings
 *   are left out.
 * @returns {Segment[]}
 */
export function segmentsOf(text, placed) {
  const points = Array.from(text);
  const within = placed
    .map((item) => ({ ...item, start: Math.max(0, item.start), end: Math.min(points.length, item.end) }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  const cuts = [...new Set([0, points.length, ...within.flatMap(({ start, end }) => [start, end])])].sort(
    (a, b) => a - b,
  );
  /** @type {Segment[]} */
  const segments = [];
  /** @type {Placed[]} */
  let open = [];
  let next = 0;
  for (let index = 1; index < cuts.length; index++) {
    const from = /** @type {number} */ (cuts[index - 1]);
    const to = /** @type {number} */ (cuts[index]);
    open = open.filter(({ end }) => end > from);
    for (let item = within[next]; item && item.start <= from; item = within[next]) {
      open.push(item);
      next++;
    }
    const covering = open.toSorted((a, b) => a.end - a.start - (b.end - b.start));
    segments.push({
      text: points.slice(from, to).join(""),
      covering,
      ending: covering.filter(({ end }) => end === to),
    });
  }
  return segments;
}

/** A text of invisible characters only: format, control, private-use and unassigned ones. */
const UNSEEN = /^[\p{Cf}\p{Cc}\p{Co}\p{Cn}]+$/u;

/**
 * Returns the names of the characters of an invisible text, such as `["U+200B", "U+202E"]`; undefined if the text has a visible
 * character.
 *
 * @param {string} text
 * @returns {string[] | undefined}
 */
export function unseenCharacters(text) {
  if (!UNSEEN.test(text) || /[\n\t]/.test(text)) return undefined;
  return Array.from(text, (character) => {
    const code = /** @type {number} */ (character.codePointAt(0));
    return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  });
}
