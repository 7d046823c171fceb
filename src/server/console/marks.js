// Shows texts with their findings marked.
import { element } from "./dom.js";
import { checkTitle, count } from "./format.js";
import { segmentsOf, unseenCharacters } from "./segments.js";

/**
 * @typedef {import("./places.js").Block} Block
 * @typedef {import("./session.js").Finding} Finding
 * @typedef {import("./segments.js").Placed} Placed
 */

const COLOURS = 8;

/**
 * Shows blocks of text.
 *
 * @param {readonly Block[]} blocks
 * @param {readonly Placed[]} unplaced findings in none of these texts.
 * @param {readonly string[]} names of all checks, which choose the colours.
 * @returns {Node[]}
 */
export function markedTexts(blocks, unplaced, names) {
  /** @param {string} name */
  const colourOf = (name) => `mark-${Math.max(0, names.indexOf(name)) % COLOURS}`;
  const shown = blocks.map(({ title, text, placed }) =>
    element(
      "div",
      { class: "block" },
      blocks.length > 1 && element("h4", {}, title),
      element("p", { class: "text-shown", dir: "auto" }, ...marked(text, placed, colourOf)),
    ),
  );
  const elsewhere = unplaced.map(({ scanner, finding }) =>
    element(
      "li",
      {},
      element("span", { class: `tag ${colourOf(scanner)}` }, `${checkTitle(scanner)}: ${kindOf(finding)}`),
      " ",
      element("span", { class: "quote", dir: "auto" }, visible(finding.text ?? "")),
      " ",
      element("span", { class: "hint" }, finding.path ? `in ${finding.path}` : "in a text that is not shown"),
    ),
  );
  return [
    ...shown,
    ...(elsewhere.length > 0
      ? [
          element("h4", {}, `${count(elsewhere.length, "finding")} elsewhere in the request`),
          element("ul", { class: "elsewhere" }, ...elsewhere),
        ]
      : []),
  ];
}

/**
 * @param {string} text
 * @param {readonly Placed[]} placed
 * @param {(scanner: string) => string} colourOf
 * @returns {(Node | string)[]}
 */
function marked(text, placed, colourOf) {
  if (text === "") return [element("span", { class: "hint" }, "No text.")];
  return segmentsOf(text, placed).map((segment) => {
    const [narrowest] = segment.covering;
    if (!narrowest) return segment.text;
    const unseen = unseenCharacters(segment.text);
    const found = unseen ? unseen.map((name) => element("span", { class: "hidden-character" }, name)) : [segment.text];
    const tags = segment.ending.map(({ scanner, finding }) =>
      element("span", { class: `tag ${colourOf(scanner)}` }, `${checkTitle(scanner)}: ${kindOf(finding)}`),
    );
    return element("mark", { class: colourOf(narrowest.scanner) }, ...found, ...tags);
  });
}

/** @param {Finding} finding */
export function kindOf({ type, label, service }) {
  return label ?? service ?? type;
}

/** Returns a text, or the names of its characters if all of them are invisible. @param {string} text */
export function visible(text) {
  return unseenCharacters(text)?.join(" ") ?? text;
}
