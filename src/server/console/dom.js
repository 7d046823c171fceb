// Creates elements. Texts are set as text, never as HTML.

/**
 * Creates an element with attributes and children.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  created.append(...children);
  return created;
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

/**
 * Creates a table.
 *
 * @param {string} label its name for screen readers.
 * @param {string} caption
 * @param {readonly string[]} heads names of the columns; columns of numbers start with `#`.
 * @param {readonly (readonly (Node | string)[])[]} rows the first cell of each row is its head.
 */
export function table(label, caption, heads, rows) {
  const kind = heads.map((head) => (head.startsWith("#") ? { class: "number" } : {}));
  const cells = heads.map((head, index) => element("th", { scope: "col", ...kind[index] }, head.replace("#", "")));
  const created = element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...cells)),
    element(
      "tbody",
      {},
      ...rows.map(([head, ...others]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, head ?? ""),
          ...others.map((cell, index) => element("td", { ...kind[index + 1] }, cell)),
        ),
      ),
    ),
  );
  // A wide table must be scrollable with the keyboard.
  return element("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, created);
}
