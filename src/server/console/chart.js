// Draws decisions by minute as stacked bars.
import { element, shape } from "./dom.js";
import { clock, count, number } from "./format.js";

/**
 * @typedef {{ time: string, outcomes: Record<string, number> }} Minute
 * @typedef {readonly [outcome: string, label: string]} Series
 */

/** The outcomes of scans, from the bottom of a bar to its top. @type {readonly Series[]} */
export const SERIES = [
  ["passed", "Passed"],
  ["masked", "Masked"],
  ["review", "In review"],
  ["blocked", "Blocked"],
];
const HEIGHT = 100;

/**
 * Creates a chart. Its figures are also in the table below it, for those who cannot see it.
 *
 * @param {readonly Minute[]} minutes oldest first.
 */
export function minuteChart(minutes) {
  const highest = roundUp(Math.max(1, ...minutes.map(totalOf)));
  const bars = minutes.flatMap(({ outcomes }, index) => {
    let top = HEIGHT;
    return SERIES.flatMap(([outcome]) => {
      const height = ((outcomes[outcome] ?? 0) / highest) * HEIGHT;
      if (height === 0) return [];
      top -= height;
      return [shape("rect", { class: `bar-${outcome}`, x: index + 0.1, y: top, width: 0.8, height })];
    });
  });
  const lines = [0, 0.5, 1].map((part) =>
    shape("line", { class: "grid", x1: 0, x2: minutes.length, y1: part * HEIGHT, y2: part * HEIGHT }),
  );
  const pointer = shape("rect", { class: "pointed", y: 0, width: 1, height: HEIGHT, visibility: "hidden" });
  const drawing = shape(
    "svg",
    { viewBox: `0 0 ${minutes.length} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    ...lines,
    pointer,
    ...bars,
  );
  const read = element("span", { class: "chart-read" });
  showPointed(drawing, pointer, read, minutes);
  return element(
    "figure",
    { class: "chart" },
    element("figcaption", { class: "chart-head" }, legend(minutes), read),
    element(
      "div",
      { class: "chart-area" },
      element(
        "div",
        { class: "chart-y", "aria-hidden": "true" },
        ...scaleOf(highest).map((text) => element("span", {}, text)),
      ),
      drawing,
    ),
    element(
      "div",
      { class: "chart-x", "aria-hidden": "true" },
      ...timesOf(minutes).map((text) => element("span", {}, text)),
    ),
  );
}

/** Returns the outcomes to show. Texts in review are rare, so they are shown only if there are some. @param {readonly Minute[]} minutes */
export function shownSeries(minutes) {
  return SERIES.filter(([outcome]) => outcome !== "review" || minutes.some(({ outcomes }) => outcomes.review));
}

/** @param {readonly Minute[]} minutes */
function legend(minutes) {
  const items = shownSeries(minutes).map(([outcome, label]) =>
    element("span", { class: "legend" }, element("span", { class: `swatch bar-${outcome}` }), label),
  );
  return element("span", { class: "legends" }, ...items);
}

/** @param {number} highest */
function scaleOf(highest) {
  return [number(highest), highest % 2 === 0 ? number(highest / 2) : "", "0"];
}

/** @param {readonly Minute[]} minutes */
function timesOf(minutes) {
  const at = [0, Math.floor(minutes.length / 2), minutes.length - 1];
  return at.map((index) => clock(minutes[index]?.time ?? ""));
}

/**
 * Shows the figures of the minute under the pointer.
 *
 * @param {SVGElement} drawing
 * @param {SVGElement} pointer
 * @param {HTMLElement} read
 * @param {readonly Minute[]} minutes
 */
function showPointed(drawing, pointer, read, minutes) {
  drawing.addEventListener("pointermove", (event) => {
    const { left, width } = drawing.getBoundingClientRect();
    const index = Math.min(
      minutes.length - 1,
      Math.max(0, Math.floor(((event.clientX - left) / width) * minutes.length)),
    );
    const minute = minutes[index];
    if (!minute) return;
    pointer.setAttribute("x", String(index));
    pointer.setAttribute("visibility", "visible");
    read.textContent = `${clock(minute.time)}: ${figuresOf(minute)}`;
  });
  drawing.addEventListener("pointerleave", () => {
    pointer.setAttribute("visibility", "hidden");
    read.textContent = "";
  });
}

/** @param {Minute} minute */
function figuresOf(minute) {
  if (totalOf(minute) === 0) return "no scans";
  return SERIES.flatMap(([outcome, label]) => {
    const amount = minute.outcomes[outcome] ?? 0;
    return amount > 0 ? [`${number(amount)} ${label.toLowerCase()}`] : [];
  }).join(", ");
}

/** @param {Minute} minute */
export function totalOf({ outcomes }) {
  return SERIES.reduce((sum, [outcome]) => sum + (outcomes[outcome] ?? 0), 0);
}

/** Returns the next of 2, 4, 6, 8, 10, 20, 40, ... @param {number} value */
function roundUp(value) {
  let size = 1;
  while (size * 10 < value) size *= 10;
  return [2, 4, 6, 8, 10].map((step) => step * size).find((end) => end >= value) ?? value;
}

/** Describes a chart in a sentence. @param {readonly Minute[]} minutes */
export function describeMinutes(minutes) {
  const total = minutes.reduce((sum, minute) => sum + totalOf(minute), 0);
  return `${count(total, "scan")} in ${count(minutes.length, "minute")}`;
}
