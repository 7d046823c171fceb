// Shows the result of a check.
import { originalOf } from "./client.js";
import { element, table } from "./dom.js";
import { blocksOf } from "./places.js";
import { segmentsOf, unseenCharacters } from "./segments.js";

/**
 * @typedef {import("./client.js").Checked} Checked
 * @typedef {import("./client.js").Finding} Finding
 * @typedef {import("./client.js").Reply} Reply
 * @typedef {import("./client.js").Subject} Subject
 * @typedef {import("./segments.js").Placed} Placed
 */

const COLOURS = 8;
const SVG = "http://www.w3.org/2000/svg";

/**
 * Summarizes a check in a sentence or two, for the live region.
 *
 * @param {Checked} checked
 */
export function summaryOf({ reply, milliseconds }) {
  const names = Object.keys(reply.scanners);
  const failing = names.filter((name) => isFailing(reply, name));
  const found = Object.values(reply.findings).flat().length;
  const verdict = reply.is_valid
    ? `Passes: none of ${count(names.length, "check")} failed.`
    : failing.length > 0
      ? `Fails: ${failing.length} of ${count(names.length, "check")} failed (${failing.join(", ")}).`
      : "Fails: a part of the text or one of its checks was skipped.";
  return `${verdict} ${count(found, "finding")}, ${milliseconds.toFixed(0)} ms.`;
}

/**
 * Returns the elements of a report.
 *
 * @param {Subject} subject
 * @param {Checked} checked
 * @param {number} window number of user messages that the server scans together.
 * @returns {Node[]}
 */
export function reportOf(subject, checked, window) {
  const { reply } = checked;
  const names = Object.keys(reply.scanners);
  /** @param {string} scanner */
  const colourOf = (scanner) => `mark-${Math.max(0, names.indexOf(scanner)) % COLOURS}`;
  return [
    ...texts(subject, checked, window, colourOf),
    ...scores(reply, names),
    ...findings(reply),
    ...sanitized(subject, reply),
    ...coverage(reply, checked.milliseconds),
    raw(checked),
  ];
}

/**
 * Returns the texts with marked findings.
 *
 * @param {Subject} subject
 * @param {Checked} checked
 * @param {number} window
 * @param {(scanner: string) => string} colourOf
 */
function texts(subject, { reply }, window, colourOf) {
  const { blocks, unplaced } = blocksOf(subject, reply.findings, window);
  const shown = blocks.map(({ title, text, placed }) =>
    element(
      "div",
      { class: "block" },
      element("h4", {}, title),
      element("p", { class: "text-shown", dir: "auto" }, ...marked(text, placed, colourOf)),
    ),
  );
  const notes = unplaced > 0 ? [`${count(unplaced, "finding")} cannot be shown in a text.`] : [];
  return [
    element("h3", {}, "Findings in the text"),
    ...shown,
    ...notes.map((note) => element("p", { class: "hint" }, note)),
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
      element(
        "span",
        { class: `tag ${colourOf(scanner)}` },
        `${scanner}: ${kindOf(finding)} ${finding.score.toFixed(2)}`,
      ),
    );
    return element("mark", { class: colourOf(narrowest.scanner) }, ...found, ...tags);
  });
}

/**
 * @param {Reply} reply
 * @param {readonly string[]} names
 */
function scores(reply, names) {
  const rows = names.map((name) => {
    const score = reply.scanners[name] ?? 0;
    const failing = isFailing(reply, name);
    const probability = reply.probabilities[name];
    return [
      name,
      element("strong", { class: failing ? "fails" : "passes" }, failing ? "fails" : "passes"),
      element("span", { class: failing ? "fails" : "passes" }, bar(score), score.toFixed(2)),
      probability === undefined ? "–" : probability.toFixed(3),
      (reply.timing[name] ?? 0).toFixed(1),
    ];
  });
  if (rows.length === 0) return [element("h3", {}, "Scores"), element("p", {}, "No scanner has checked it.")];
  return [
    element("h3", {}, "Scores"),
    table(
      "Scores by scanner",
      "Risk scores are from -1 to 1: below 0 passes, above 0 fails.",
      ["Scanner", "Verdict", "#Risk score", "#Probability", "#Time (ms)"],
      rows,
    ),
  ];
}

/**
 * Draws a bar from the middle to a score. It is hidden from screen readers, which read the number beside it.
 *
 * @param {number} score from -1 to 1.
 */
function bar(score) {
  const width = Math.min(1, Math.abs(score)) * 50;
  /**
   * @param {string} name
   * @param {Record<string, string | number>} attributes
   */
  const shape = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    return made;
  };
  const drawn = shape("svg", {
    class: "bar",
    viewBox: "0 0 100 12",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  drawn.append(
    shape("rect", { class: "track", x: 0, y: 0, width: 100, height: 12 }),
    shape("rect", { class: "value", x: score < 0 ? 50 - width : 50, y: 2, width, height: 8 }),
    shape("line", { class: "middle", x1: 50, y1: 0, x2: 50, y2: 12 }),
  );
  return drawn;
}

/** @param {Reply} reply */
function findings(reply) {
  const rows = Object.entries(reply.findings).flatMap(([scanner, found]) =>
    found.map((finding) => [
      scanner,
      finding.type,
      finding.label ?? finding.service ?? "–",
      element("span", { class: "found", dir: "auto" }, visible(finding.text ?? "–")),
      finding.view ?? "–",
      `${finding.start}–${finding.end}`,
      finding.score.toFixed(2),
    ]),
  );
  if (rows.length === 0) return [];
  return [
    element("h3", {}, "All findings"),
    table(
      "List of findings",
      "Offsets are in code points of the given text.",
      ["Scanner", "Type", "Label", "Found", "View", "#Offsets", "#Score"],
      rows,
    ),
  ];
}

/**
 * @param {Subject} subject
 * @param {Reply} reply
 */
function sanitized(subject, reply) {
  const text = reply.sanitized_prompt ?? reply.sanitized_output ?? "";
  const what =
    text === originalOf(subject)
      ? element("p", {}, "No scanner rewrote the text.")
      : element("p", { class: "text-shown", dir: "auto", id: "sanitized" }, text);
  const vault = reply.vault
    ? [
        element(
          "p",
          { class: "hint" },
          "The reply has a vault with the replaced values, which can be restored in an output.",
        ),
      ]
    : [];
  return [element("h3", {}, "Sanitized text"), what, ...vault];
}

/**
 * @param {Reply} reply
 * @param {number} milliseconds
 */
function coverage({ coverage: scanned }, milliseconds) {
  const rows = {
    "Code points": String(scanned.chars),
    "Scanned code points": String(scanned.scanned_chars),
    Truncated: scanned.truncated ? "yes" : "no",
    Windows: String(scanned.windows),
    "Skipped parts of messages": String(scanned.parts_skipped),
    "Suppressed scanners": scanned.suppressed.join(", ") || "none",
    "Failed scanners": scanned.failed.join(", ") || "none",
    "Time from request to reply": `${milliseconds.toFixed(0)} ms`,
  };
  const items = Object.entries(rows).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  return [element("h3", {}, "Coverage"), element("dl", {}, ...items)];
}

/** @param {Checked} checked */
function raw({ path, request, reply }) {
  return element(
    "details",
    {},
    element("summary", {}, "Request and reply in JSON"),
    element("pre", {}, `POST /${path}\n${JSON.stringify(request, null, 2)}\n\n${JSON.stringify(reply, null, 2)}`),
  );
}

/**
 * @param {Reply} reply
 * @param {string} name
 */
function isFailing(reply, name) {
  return (reply.scanners[name] ?? 0) > 0;
}

/** @param {Finding} finding */
function kindOf({ type, label, service }) {
  return label ?? service ?? type;
}

/**
 * Returns a text, or the names of its characters if all of them are invisible.
 *
 * @param {string} text
 */
function visible(text) {
  return unseenCharacters(text)?.join(" ") ?? text;
}

/**
 * @param {number} number
 * @param {string} noun
 */
function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
