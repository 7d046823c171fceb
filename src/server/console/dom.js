// Creates elements. Texts are set as text, never as HTML.

/** @typedef {Node | string | false | null | undefined} Child A child; false, null and undefined are left out. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Creates an element with attributes and children.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number | boolean | undefined>} [attributes] false and undefined are left out, true is an empty text.
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  setAttributes(created, attributes);
  created.append(...shown(children));
  return created;
}

/**
 * Creates an element of SVG.
 *
 * @param {string} name
 * @param {Record<string, string | number | boolean | undefined>} [attributes]
 * @param {...Child} children
 */
export function shape(name, attributes = {}, ...children) {
  const created = document.createElementNS(SVG, name);
  setAttributes(created, attributes);
  created.append(...shown(children));
  return created;
}

/**
 * @param {Element} target
 * @param {Record<string, string | number | boolean | undefined>} attributes
 */
function setAttributes(target, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) target.setAttribute(key, value === true ? "" : String(value));
  }
}

/** @param {readonly Child[]} children @returns {(Node | string)[]} */
function shown(children) {
  return /** @type {(Node | string)[]} */ (children.filter((child) => child !== false && child != null));
}

/**
 * Returns the element of an id, which must exist.
 *
 * @template {HTMLElement} [Type=HTMLElement]
 * @param {string} id
 * @returns {Type}
 */
export function byId(id) {
  return /** @type {Type} */ (document.getElementById(id));
}

let lastId = 0;

/** Returns an id that no other element has. @param {string} prefix */
export function uniqueId(prefix) {
  return `${prefix}-${++lastId}`;
}

/**
 * Creates a card: a region with a heading.
 *
 * @param {string} title
 * @param {{ class?: string, end?: Child, level?: 2 | 3 }} options `end` stands at the end of the heading's line.
 * @param {...Child} children
 */
export function card(title, { class: name = "", end, level = 3 }, ...children) {
  const id = uniqueId("card");
  const heading = element(level === 2 ? "h2" : "h3", { id }, title);
  return element(
    "section",
    { class: `card ${name}`.trim(), "aria-labelledby": id },
    element("div", { class: "card-head" }, heading, end),
    ...children,
  );
}

/**
 * Creates a table that scrolls in its own box if it is wide.
 *
 * @param {string} label its name for screen readers.
 * @param {readonly string[]} heads names of the columns; columns of numbers start with `#`.
 * @param {readonly (readonly Child[])[]} rows the first cell of each row is its head.
 */
export function table(label, heads, rows) {
  const kinds = heads.map((head) => (head.startsWith("#") ? "number" : undefined));
  const top = heads.map((head, index) => element("th", { scope: "col", class: kinds[index] }, head.replace("#", "")));
  const body = rows.map(([first, ...others]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, first),
      ...others.map((cell, index) => element("td", { class: kinds[index + 1] }, cell)),
    ),
  );
  const created = element("table", {}, element("thead", {}, element("tr", {}, ...top)), element("tbody", {}, ...body));
  // A wide table must be scrollable with the keyboard.
  return element("div", { class: "scroll", role: "group", "aria-label": label, tabindex: "0" }, created);
}

/**
 * Creates a list of choices in one line, of which one is chosen.
 *
 * @param {string} legend
 * @param {string} name
 * @param {readonly (readonly [value: string, label: string])[]} choices
 * @param {string} chosen
 */
export function segments(legend, name, choices, chosen) {
  return element(
    "fieldset",
    { class: "segments" },
    element("legend", { class: "hidden-label" }, legend),
    ...choices.map(([value, label]) =>
      element(
        "label",
        {},
        element("input", { type: "radio", name, value, checked: value === chosen }),
        element("span", {}, label),
      ),
    ),
  );
}

/**
 * Creates a bar of a fraction. It is hidden from screen readers, which read the number beside it.
 *
 * @param {number} fraction 0..1.
 * @param {string} [name] a class for its colour.
 */
export function meter(fraction, name = "") {
  const width = Math.max(0, Math.min(1, fraction)) * 100;
  return shape(
    "svg",
    { class: `meter ${name}`.trim(), viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    shape("rect", { class: "meter-track", width: 100, height: 8 }),
    shape("rect", { class: "meter-value", width, height: 8 }),
  );
}

/** @param {string} title @param {...Child} text */
export function emptyState(title, ...text) {
  return element("div", { class: "empty" }, element("p", { class: "empty-title" }, title), element("p", {}, ...text));
}

/**
 * A card in place of a view that failed.
 *
 * @param {unknown} error
 * @param {{ hint?: string, action?: Child }} [advice] what follows the message, and a button.
 */
export function failureCard(error, { hint, action } = {}) {
  const message = error instanceof Error ? error.message : String(error);
  const text = element("p", {}, hint ? `${message} ${hint}` : message);
  return element("div", { class: "card", role: "alert" }, element("div", { class: "problem" }, text, action));
}
