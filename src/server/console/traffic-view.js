// The view of live traffic: what the scanners decided in the last minutes.
import { describeMinutes, minuteChart, shownSeries, totalOf } from "./chart.js";
import { card, element, emptyState, failureCard, meter, segments, table } from "./dom.js";
import { checkTitle, clock, clockWithSeconds, count, milliseconds, number, percent } from "./format.js";
import { CallError, call } from "./session.js";

/**
 * @typedef {Record<string, number>} Counts
 * @typedef {{ time: string, request: string, route: string, credential: string, profile: string, side: string, outcome: string,
 *   failed: string[], in_review?: string[], would_fail?: string[], content?: Record<string, unknown> }} Decision
 * @typedef {{ since: string, has_texts: boolean, instances: number, redis?: "up" | "down", minutes: import("./chart.js").Minute[],
 *   scanners: Record<string, Record<string, Counts>>, sources: Record<string, Counts>, credentials: Record<string, Counts>,
 *   profiles: Record<string, Counts>, errors: Counts, decisions: Decision[] }} Traffic
 */

const INTERVAL_MS = 4000;
const RANGES = /** @type {const} */ ([
  ["15", "15 minutes"],
  ["60", "1 hour"],
  ["180", "3 hours"],
]);
/** How the names of sources are shown. */
const SOURCES = /** @type {Record<string, string>} */ ({
  user: "Users",
  tool: "Tools, pages, documents",
  assistant: "Earlier answers",
  tool_call: "Tool calls",
  tool_definition: "Definitions of tools",
  system: "System prompts",
  history: "Answered messages",
  output: "Answers",
});

/** @param {import("./session.js").Context} context */
export function trafficView({ onSignedOut }) {
  const state = { range: "60", isPaused: false };
  const content = element("div", { class: "stack" }, element("p", { class: "card loading" }, "Loading …"));
  const live = element("span", { class: "live" });
  const ranges = segments("Range", "range", RANGES, state.range);
  const pause = element("button", { type: "button", class: "secondary" }, "Pause");
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let current = new AbortController();
  /** @type {string | undefined} The latest reply, to leave the page alone while nothing changes. */
  let shown;

  async function update() {
    clearTimeout(timer);
    current.abort();
    current = new AbortController();
    const { signal } = current;
    try {
      if (!document.hidden) {
        const traffic = await call(`admin/traffic?minutes=${state.range}`, { signal });
        const text = JSON.stringify(traffic);
        if (text !== shown) replaceKeepingState(content, [...instancesNote(traffic), ...trafficCards(traffic)]);
        shown = text;
        live.textContent = `Updated ${clockWithSeconds(new Date().toISOString())}`;
        live.className = "live on";
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof CallError && error.status === 401) return onSignedOut(error.message);
      shown = undefined;
      live.textContent = "";
      live.className = "live";
      content.replaceChildren(failureCard(error, { hint: "The view tries again." }));
    }
    if (!state.isPaused) timer = setTimeout(update, INTERVAL_MS);
  }
  ranges.addEventListener("change", (event) => {
    state.range = /** @type {HTMLInputElement} */ (event.target).value;
    update();
  });
  pause.addEventListener("click", () => {
    state.isPaused = !state.isPaused;
    pause.textContent = state.isPaused ? "Resume" : "Pause";
    if (state.isPaused) {
      clearTimeout(timer);
      live.className = "live";
    } else update();
  });
  return {
    root: element(
      "div",
      { class: "stack" },
      element(
        "div",
        { class: "view-head" },
        element("h2", {}, "Traffic"),
        element("div", { class: "controls" }, live, ranges, pause),
      ),
      content,
    ),
    open: update,
    close() {
      clearTimeout(timer);
      current.abort();
    },
  };
}

/**
 * Replaces the content of an element. Opened details stay open, scrolled boxes stay where they are, and the focus stays.
 *
 * @param {HTMLElement} target
 * @param {readonly Node[]} children
 */
function replaceKeepingState(target, children) {
  const focused = document.activeElement?.getAttribute("aria-label");
  const openDetails = new Set(
    [...target.querySelectorAll("details[open]")].map((item) => item.getAttribute("data-key")),
  );
  const offsets = new Map([...target.querySelectorAll(".scroll")].map((box) => [box.getAttribute("aria-label"), box]));
  const positions = new Map([...offsets].map(([label, box]) => [label, [box.scrollLeft, box.scrollTop]]));
  target.replaceChildren(...children);
  for (const item of target.querySelectorAll("details")) item.open = openDetails.has(item.getAttribute("data-key"));
  for (const box of target.querySelectorAll(".scroll")) {
    const label = box.getAttribute("aria-label");
    const [left = 0, top = 0] = positions.get(label) ?? [];
    box.scrollLeft = left;
    box.scrollTop = top;
    if (focused && focused === label) /** @type {HTMLElement} */ (box).focus({ preventScroll: true });
  }
}

/** Says whose counts are shown, if instances share them. @param {Traffic} traffic @returns {Node[]} */
function instancesNote({ redis, instances }) {
  if (!redis) return [];
  const text =
    redis === "up"
      ? [`Counts of ${count(instances, "instance")}. The latest decisions are those of this instance.`]
      : [
          element("span", { class: "badge warned" }, "Redis does not respond"),
          " These are the counts of this instance alone.",
        ];
  return [element("p", { class: "hint" }, ...text)];
}

/** @param {Traffic} traffic @returns {Node[]} */
function trafficCards(traffic) {
  const { minutes, sources, credentials, profiles, scanners } = traffic;
  const total = minutes.reduce((sum, minute) => sum + totalOf(minute), 0);
  const hasErrors = Object.keys(traffic.errors).length > 0;
  if (total === 0 && !hasErrors) {
    const link = element("a", { href: "#try" }, "Try a text");
    const empty = emptyState(
      "No scans in this time.",
      link,
      ", or send a request to the API. It appears here within seconds.",
    );
    return [element("div", { class: "card" }, empty)];
  }
  return [
    tiles(traffic, total),
    card(
      "Scans by minute",
      { end: element("span", { class: "hint" }, describeMinutes(minutes)) },
      minuteChart(minutes),
      minuteTable(minutes),
    ),
    element(
      "div",
      { class: "columns" },
      scannerCard(scanners),
      element(
        "div",
        { class: "stack" },
        countsCard("By source", "Source", ["passed", "failed"], sources, (name) => SOURCES[name] ?? name),
        countsCard("By credential", "Credential", OUTCOMES, credentials),
        Object.keys(profiles).length > 1 && countsCard("By profile", "Profile", OUTCOMES, profiles),
        hasErrors && errorCard(traffic.errors),
      ),
    ),
    decisionCard(traffic),
  ];
}

const OUTCOMES = ["passed", "masked", "review", "blocked"];

/** @param {Traffic} traffic @param {number} total */
function tiles({ minutes, errors }, total) {
  /** @param {string} outcome */
  const sum = (outcome) => minutes.reduce((all, { outcomes }) => all + (outcomes[outcome] ?? 0), 0);
  const failed = Object.values(errors).reduce((all, amount) => all + amount, 0);
  const would = sum("would_block") + sum("would_mask");
  /** @type {[name: string, value: number, detail: string, kind: string][]} */
  const values = [
    ["Scans", total, "texts, conversations, answers", ""],
    ...shownSeries(minutes).map(
      ([outcome, label]) =>
        /** @type {[string, number, string, string]} */ ([
          label,
          sum(outcome),
          `${percent(sum(outcome), total)} of scans`,
          outcome,
        ]),
    ),
    ...(would > 0
      ? [/** @type {[string, number, string, string]} */ (["Would stop", would, "by checks that monitor", "monitored"])]
      : []),
    ["Errors", failed, failed > 0 ? "requests without a decision" : "none", failed > 0 ? "failed" : ""],
  ];
  return element(
    "dl",
    { class: "tiles" },
    ...values.map(([name, value, detail, kind]) =>
      element(
        "div",
        { class: `tile ${kind}`.trim() },
        element("dt", {}, name),
        element(
          "dd",
          {},
          element("span", { class: "tile-value" }, number(value)),
          " ",
          element("span", { class: "hint" }, detail),
        ),
      ),
    ),
  );
}

/** @param {readonly import("./chart.js").Minute[]} minutes */
function minuteTable(minutes) {
  const series = shownSeries(minutes);
  const rows = minutes
    .filter((minute) => totalOf(minute) > 0)
    .map(({ time, outcomes }) => [clock(time), ...series.map(([outcome]) => number(outcomes[outcome] ?? 0))])
    .reverse();
  return element(
    "details",
    { "data-key": "minutes" },
    element("summary", {}, "Figures by minute"),
    table("Figures by minute", ["Minute", ...series.map(([, label]) => `#${label}`)], rows),
  );
}

/** Columns that are shown only if they have a figure. */
const RARE_COLUMNS = /** @type {const} */ ([
  ["would_fail", "Would fail"],
  ["excepted", "Excepted"],
]);

/** @param {Traffic["scanners"]} scanners */
function scannerCard(scanners) {
  const all = Object.entries(scanners).flatMap(([side, counts]) =>
    Object.entries(counts).map(([name, values]) => {
      const { passed = 0, failed = 0, would_fail = 0, ms = 0 } = values;
      return { side, name, values, checks: passed + failed + would_fail, failed, would: would_fail, ms };
    }),
  );
  all.sort((one, other) => other.failed + other.would - (one.failed + one.would) || other.checks - one.checks);
  const rare = RARE_COLUMNS.filter(([column]) => all.some(({ values }) => (values[column] ?? 0) > 0));
  const rows = all.map(({ side, name, values, checks, failed, ms }) => [
    element("span", {}, name, " ", element("span", { class: "badge" }, side)),
    number(checks),
    element(
      "span",
      { class: "with-bar" },
      meter(failed / checks, "fails"),
      element("span", {}, `${number(failed)} (${percent(failed, checks)})`),
    ),
    ...rare.map(([column]) => number(values[column] ?? 0)),
    milliseconds(ms / checks),
  ]);
  const heads = ["Scanner", "#Checks", "#Failed", ...rare.map(([, title]) => `#${title}`), "#Mean time"];
  return card("By scanner", {}, table("Checks by scanner", heads, rows));
}

/**
 * @param {string} title
 * @param {string} head
 * @param {readonly string[]} columns
 * @param {Record<string, Counts>} counts
 * @param {(name: string) => string} [nameOf]
 */
function countsCard(title, head, columns, counts, nameOf = (name) => name) {
  const isShown = (/** @type {string} */ column) =>
    column !== "review" || Object.values(counts).some(({ review = 0 }) => review > 0);
  const shown = columns.filter(isShown);
  const rows = Object.entries(counts)
    .sort(([, one], [, other]) => sumOf(other) - sumOf(one))
    .map(([name, values]) => [nameOf(name), ...shown.map((column) => number(values[column] ?? 0))]);
  const heads = shown.map((column) => `#${column.charAt(0).toUpperCase()}${column.slice(1)}`);
  return card(title, {}, table(title, [head, ...heads], rows));
}

/** @param {Counts} counts */
function sumOf(counts) {
  return Object.values(counts).reduce((sum, value) => sum + value, 0);
}

const STATUSES = /** @type {Record<string, string>} */ ({
  400: "Malformed request",
  401: "No valid credential",
  403: "Not allowed",
  413: "Too large",
  422: "Invalid fields",
  429: "Rate limit",
  500: "A scanner failed",
  503: "Overloaded or starting",
  504: "Timeout",
});

/** @param {Counts} errors */
function errorCard(errors) {
  const rows = Object.entries(errors).map(([status, amount]) => [status, STATUSES[status] ?? "", number(amount)]);
  return card("Errors", {}, table("Errors by status", ["Status", "Meaning", "#Requests"], rows));
}

/** @param {Traffic} traffic */
function decisionCard({ decisions, has_texts: hasTexts }) {
  const rows = decisions.map(({ time, request, route, credential, profile, outcome, content, ...checks }) => [
    clockWithSeconds(time),
    element("span", { class: `badge ${outcome}` }, outcome),
    element("span", { class: "wide" }, checksOf(checks) || "–"),
    route,
    profile === "default" ? credential : `${credential} (${profile})`,
    content
      ? element(
          "details",
          { "data-key": request },
          element("summary", {}, "Text"),
          element("pre", { class: "text-shown", dir: "auto" }, textOf(content)),
        )
      : element("code", { class: "request" }, request),
  ]);
  const hint = hasTexts
    ? "Texts of requests with your own credential are shown."
    : "Texts are not kept (app.log_content).";
  return card(
    "Latest decisions",
    { class: "tall", end: element("span", { class: "hint" }, hint) },
    table(
      "Latest decisions",
      ["Time", "Outcome", "Failed checks", "Route", "Credential", hasTexts ? "Text or request" : "Request"],
      rows,
    ),
  );
}

/** @param {Pick<Decision, "failed" | "in_review" | "would_fail">} decision */
function checksOf({ failed, in_review: inReview = [], would_fail: would = [] }) {
  const reviewed = inReview.map((name) => `${checkTitle(name)} (review)`);
  return [...failed.map(checkTitle), ...reviewed, ...would.map((name) => `${checkTitle(name)} (monitors)`)].join(", ");
}

/** @param {Record<string, unknown>} content */
function textOf(content) {
  const values = Object.values(content);
  const [only] = values;
  return values.length === 1 && typeof only === "string" ? only : JSON.stringify(content, null, 2);
}
