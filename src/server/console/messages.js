// Editors of lists: the messages of a conversation, and documents.
import { element, uniqueId } from "./dom.js";

const ROLES = ["user", "assistant", "tool", "system"];

/**
 * @typedef {{ root: HTMLElement, set(texts: readonly { role?: string, content: string }[]): void,
 *   read(): { role: string, content: string }[] }} ListEditor
 */

/**
 * Creates an editor of a list of texts.
 *
 * @param {string} noun `message` or `document`.
 * @param {boolean} hasRoles
 * @returns {ListEditor}
 */
export function listEditor(noun, hasRoles) {
  const list = element("ol", { class: "messages" });
  const add = element("button", { type: "button", class: "secondary" }, `Add a ${noun}`);
  const number = () => {
    for (const [index, item] of [...list.children].entries()) {
      const [text, role] = item.querySelectorAll("label");
      if (text) text.textContent = `Text of ${noun} ${index + 1}`;
      if (role) role.textContent = `Role of ${noun} ${index + 1}`;
      const remove = item.querySelector("button");
      if (remove) remove.setAttribute("aria-label", `Remove ${noun} ${index + 1}`);
    }
  };
  /** @param {{ role?: string, content: string }} given */
  const append = ({ role = "user", content }) => {
    const { item, text, remove } = listItem(role, content, hasRoles);
    remove.addEventListener("click", () => {
      const before = item.previousElementSibling ?? item.nextElementSibling;
      item.remove();
      number();
      // The focused button was removed.
      (before?.querySelector("textarea") ?? add).focus();
    });
    list.append(item);
    number();
    return text;
  };
  add.addEventListener("click", () => append({ content: "" }).focus());
  return {
    root: element("div", {}, list, add),
    set(texts) {
      list.replaceChildren();
      for (const text of texts) append(text);
    },
    read: () =>
      [...list.children].map((item) => ({
        role: item.querySelector("select")?.value ?? "user",
        content: item.querySelector("textarea")?.value ?? "",
      })),
  };
}

/**
 * @param {string} role
 * @param {string} content
 * @param {boolean} hasRole
 */
function listItem(role, content, hasRole) {
  const text = element("textarea", { id: uniqueId("text"), rows: 3, dir: "auto" });
  text.value = content;
  const remove = element("button", { type: "button", class: "quiet" }, "Remove");
  const select = element(
    "select",
    { id: uniqueId("role") },
    ...ROLES.map((name) => element("option", { value: name }, name)),
  );
  select.value = role;
  const item = element(
    "li",
    {},
    element("label", { for: text.id, class: hasRole ? "hidden-label" : undefined }),
    hasRole && element("label", { for: select.id, class: "hidden-label" }),
    hasRole && select,
    remove,
    text,
  );
  return { item, text, remove };
}
