// The list of checks: the scanners of a profile before a check, and their verdicts with movable thresholds after it.
import { element, meter } from "./dom.js";
import { checkTitle, milliseconds } from "./format.js";
import { configuredThreshold, isAdjustable, scannerOf } from "./result.js";

/**
 * @typedef {import("./session.js").Check} Check
 * @typedef {import("./result.js").Judgement} Judgement
 * @typedef {import("./session.js").Profile} Profile
 * @typedef {import("./session.js").Scanner} Scanner
 * @typedef {{ root: HTMLElement, show(check: Check): void }} Row
 */

const STEP = 0.01;

/** Lists the scanners that will run. @param {readonly Scanner[]} scanners */
export function plannedChecks(scanners) {
  return element(
    "ul",
    { class: "checks" },
    ...scanners.map((scanner) =>
      element(
        "li",
        { class: "check" },
        element("span", { class: "check-name" }, scanner.name, scannerBadge(scanner)),
        element("span", { class: "check-about hint" }, aboutOf(scanner)),
      ),
    ),
  );
}

/** @param {Scanner} scanner */
function aboutOf({ name, type, models, threshold, minimum }) {
  const parts = [
    ...(name === type ? [] : [type]),
    models.length > 0 ? models.map((model) => model.replace(/^embedded:/, "")).join(", ") : "rules",
    ...(threshold === undefined ? [] : [`threshold ${threshold}`]),
    ...(minimum === undefined ? [] : [`minimum ${minimum}`]),
  ];
  return parts.join(" · ");
}

/** Says where a scanner does not block: it is off, or only monitors. @param {Scanner} scanner */
export function scannerBadge({ sources, monitors }) {
  if (sources.length === 0) return badge("off");
  if (monitors.length === 0) return null;
  return badge(
    monitors.length === sources.length ? "monitors" : `monitors ${monitors.join(", ").replaceAll("_", " ")}`,
  );
}

/**
 * Creates the list of the checks of a result.
 *
 * @param {Profile} profile
 * @param {readonly Check[]} checks
 * @param {(scanner: string, threshold: number) => void} onMove called when a threshold is moved by hand.
 * @returns {{ root: HTMLElement, show(judgement: Judgement): void }} `show` updates the verdicts and keeps the focus.
 */
export function checkList(profile, checks, onMove) {
  // Failing checks come first.
  const sorted = [...checks].sort((one, other) => Number(one.is_valid) - Number(other.is_valid));
  /** @type {Map<string, Row>} */
  const rows = new Map(sorted.map((check) => [check.name, checkRow(profile, check, onMove)]));
  const root = element("ul", { class: "checks" }, ...[...rows.values()].map(({ root }) => root));
  // The checks of one scanner in several scopes share its threshold.
  root.addEventListener(
    "input",
    ({ target }) => {
      const { value, dataset } = /** @type {HTMLInputElement} */ (target);
      for (const input of root.querySelectorAll("input"))
        if (input.dataset.scanner === dataset.scanner) input.value = value;
    },
    { capture: true },
  );
  return {
    root,
    show: (judgement) => {
      for (const check of judgement.checks) rows.get(check.name)?.show(check);
    },
  };
}

/**
 * @param {Profile} profile
 * @param {Check} check
 * @param {(scanner: string, threshold: number) => void} onMove
 * @returns {Row}
 */
function checkRow(profile, check, onMove) {
  const scanner = scannerOf(profile, check);
  const verdict = element("span", { class: "check-verdict" });
  const limit = limitCell(check, scanner, onMove);
  const scope = checkTitle(check.name)
    .slice(check.scanner.length)
    .replace(/[ ()]+(.*)\)/, "$1");
  const root = element(
    "li",
    { class: "check" },
    element(
      "span",
      { class: "check-name" },
      check.scanner,
      scope && badge(scope),
      check.mode === "monitor" && badge("monitors"),
    ),
    verdict,
    ...limit.cells,
    element("span", { class: "check-time hint" }, milliseconds(check.timing)),
    ...exceptionsOf(check),
  );
  return {
    root,
    show(judged) {
      const isMild = judged.mode === "monitor" || (judged.outcome === "rewritten" && scanner?.masks);
      const isPassed = judged.is_valid && judged.outcome !== "review";
      const name = isPassed ? "passes" : judged.is_valid || isMild ? "masks" : "fails";
      verdict.className = `check-verdict ${name}`;
      verdict.textContent = verdictOf(judged);
      limit.show(judged, name);
    },
  };
}

/** Names the exceptions without which the check would fail. @param {Check} check */
function exceptionsOf({ excepted = [] }) {
  return excepted.map(({ id, reason }) => element("span", { class: "check-extra hint" }, `Exception ${id}: ${reason}`));
}

/** @param {string} text */
function badge(text) {
  return element("span", { class: "badge" }, text);
}

/** @param {Check} check */
function verdictOf({ is_valid, outcome, mode }) {
  if (is_valid) return outcome === "review" ? "review" : "passes";
  if (mode === "monitor") return "would fail";
  return outcome === "error" ? "error" : outcome === "rewritten" ? "rewritten" : "fails";
}

/**
 * Creates the cells with the probability as a bar, the threshold as a handle on it, and both as numbers.
 *
 * @param {Check} check
 * @param {Scanner | undefined} scanner
 * @param {(scanner: string, threshold: number) => void} onMove
 * @returns {{ cells: HTMLElement[], show(check: Check, name: string): void }}
 */
function limitCell(check, scanner, onMove) {
  const { probability } = check;
  if (probability === undefined) {
    return { cells: [element("span", { class: "check-limit hint" }, "rule")], show: () => {} };
  }
  const bar = element("div", { class: "check-meter" });
  const numbers = element("span", { class: "check-numbers" }, probability.toFixed(2));
  if (!isAdjustable(check, scanner)) {
    const cell = element("div", { class: "check-limit" }, bar);
    return { cells: [cell, numbers], show: (_, name) => bar.replaceChildren(meter(probability, name)) };
  }
  const input = element("input", {
    type: "range",
    min: 0,
    max: 1,
    step: STEP,
    value: configuredThreshold(scanner),
    "aria-label": `Threshold of ${checkTitle(check.name)}`,
    "data-scanner": check.scanner,
  });
  input.addEventListener("input", () => onMove(check.scanner, Number(input.value)));
  return {
    cells: [element("div", { class: "check-limit" }, bar, input), numbers],
    show(judged, name) {
      bar.replaceChildren(meter(probability, name));
      const sign = probability > Number(input.value) ? ">" : "≤";
      // Two checks of a scanner share a threshold.
      numbers.textContent = `${probability.toFixed(2)} ${sign} ${Number(input.value).toFixed(2)}`;
      input.setAttribute(
        "aria-valuetext",
        `${input.value}: ${verdictOf(judged)} with a probability of ${probability.toFixed(2)}`,
      );
    },
  };
}
