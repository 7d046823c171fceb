// The view of the texts that wait for the decision of a person.
import { card, element, emptyState, failureCard, uniqueId } from "./dom.js";
import { age, clockWithSeconds, count, dateTime } from "./format.js";
import { CallError, call } from "./session.js";

/**
 * @typedef {{ id: string, state: "pending" | "rejected", text: string, scanner: string, probability: number, source: string,
 *   credential: string | null, requested: string, expires: string, decided_by?: string | null, reason?: string }} Review
 * @typedef {{ kept: "memory" | "redis", pending: number, reviews: Review[] }} ReviewList
 */

const INTERVAL_MS = 5000;
/** How many characters of an id a heading has. */
const SHOWN_ID = 9;
const DECISIONS = /** @type {const} */ ({ approve: "Approved", reject: "Rejected" });

/** @param {import("./session.js").Context} context */
export function reviewView({ onSignedOut }) {
  const live = element("span", { class: "live" });
  const status = element("p", { class: "hint", role: "status", tabindex: "-1" });
  const notes = element("div", { class: "stack" });
  const list = element("div", { class: "stack" }, element("p", { class: "card loading" }, "Loading …"));
  /** The cards by id and state, so that an update leaves those alone in which somebody writes. @type {Map<string, HTMLElement>} */
  let cards = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function update() {
    clearTimeout(timer);
    try {
      if (!document.hidden) show(await call("reviews"));
    } catch (error) {
      if (error instanceof CallError && error.status === 401) return onSignedOut(error.message);
      live.className = "live";
      notes.replaceChildren(failureCard(error, { hint: "The view tries again." }));
    }
    timer = setTimeout(update, INTERVAL_MS);
  }

  /** @param {ReviewList} reply */
  function show({ kept, pending, reviews }) {
    const known = cards;
    cards = new Map(reviews.map((review) => [keyOf(review), known.get(keyOf(review)) ?? reviewCard(review, decide)]));
    notes.replaceChildren(...notesOf(kept, pending, reviews));
    const shown = [...cards.values()];
    // Moving an element takes the focus away, so a list that has not changed stays as it is.
    if (shown.length !== list.children.length || shown.some((item, index) => item !== list.children[index])) {
      list.replaceChildren(...shown);
    }
    live.textContent = `Updated ${clockWithSeconds(new Date().toISOString())}`;
    live.className = "live on";
  }

  /** @param {Review} review @param {"approve" | "reject"} decision @param {string} reason */
  async function decide(review, decision, reason) {
    try {
      await call(`reviews/${encodeURIComponent(review.id)}`, { body: { decision, reason } });
      status.textContent = `${DECISIONS[decision]}: the text that ${review.scanner} had found doubtful.`;
    } catch (error) {
      if (error instanceof CallError && error.status === 401) return onSignedOut(error.message);
      status.textContent = error instanceof Error ? error.message : String(error);
    }
    // The card with the focus is about to be removed.
    status.focus();
    await update();
  }

  return {
    root: element(
      "div",
      { class: "stack" },
      element("div", { class: "view-head" }, element("h2", {}, "Review"), element("div", { class: "controls" }, live)),
      status,
      notes,
      list,
    ),
    open: update,
    close: () => clearTimeout(timer),
  };
}

/** @param {Review} review */
function keyOf({ id, state }) {
  return `${id} ${state}`;
}

/** @param {ReviewList["kept"]} kept @param {number} pending @param {readonly Review[]} reviews @returns {(Node | string)[]} */
function notesOf(kept, pending, reviews) {
  if (reviews.length === 0) {
    const empty = emptyState("No text waits for a decision.", "Texts appear here if a scanner has a review_threshold.");
    return [element("div", { class: "card" }, empty)];
  }
  const listed = reviews.filter(({ state }) => state === "pending").length;
  return [
    element(
      "p",
      { class: "hint" },
      `${count(pending, "text")} ${pending === 1 ? "waits" : "wait"} for a decision`,
      listed < pending && `, of which the ${listed} oldest are shown`,
      kept === "memory" && ". They are lost when the server ends",
      ".",
    ),
  ];
}

/**
 * @param {Review} review
 * @param {(review: Review, decision: "approve" | "reject", reason: string) => Promise<void>} decide
 */
function reviewCard(review, decide) {
  const { id, state, text, scanner, probability } = review;
  const badge = element(
    "span",
    { class: `badge ${state === "pending" ? "review" : "blocked"}` },
    state === "pending" ? "waits" : "rejected",
  );
  return card(
    // Two texts may have the same probability, and each region needs a name of its own.
    `${scanner}: ${probability.toFixed(2)} (${id.slice(0, SHOWN_ID)})`,
    { class: "review", end: badge },
    element("pre", { class: "text-shown", dir: "auto", tabindex: "0", "aria-label": "Text" }, text),
    factsOf(review),
    decisionForm(review, decide),
  );
}

/** @param {Review} review */
function factsOf({ id, source, credential, requested, expires, state, decided_by: by, reason = "" }) {
  const rows = [
    ["Source", source.replaceAll("_", " ")],
    ["Sent by", credential ?? "anybody"],
    ["Sent first", `${dateTime(requested)} (${age(requested)} ago)`],
    ...(state === "rejected" ? [["Rejected by", `${by ?? "anybody"}: ${reason}`]] : []),
    [state === "rejected" ? "Blocked until" : "Waits until", dateTime(expires)],
    ["Id", id],
  ];
  const items = rows.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", { class: "wrap" }, value)),
  );
  return element("dl", { class: "facts" }, ...items);
}

/**
 * @param {Review} review
 * @param {(review: Review, decision: "approve" | "reject", reason: string) => Promise<void>} decide
 */
function decisionForm(review, decide) {
  const id = uniqueId("reason");
  const reason = element("input", { type: "text", id, required: true, maxlength: 500, autocomplete: "off" });
  const approve = element("button", { type: "submit", class: "primary", value: "approve" }, "Approve");
  const reject = element("button", { type: "submit", class: "secondary", value: "reject" }, "Reject");
  const form = element(
    "form",
    { class: "decision" },
    element("p", { class: "field" }, element("label", { for: id }, "Reason"), reason),
    element("p", { class: "actions" }, approve, review.state === "pending" && reject),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { value } = /** @type {HTMLButtonElement} */ (event.submitter ?? approve);
    approve.disabled = true;
    reject.disabled = true;
    await decide(review, value === "reject" ? "reject" : "approve", reason.value);
    approve.disabled = false;
    reject.disabled = false;
  });
  return form;
}
