// The editor of a conversation: a list of messages, each with a role and a text.
import { byId, element } from "./dom.js";

const ROLES = ["user", "assistant", "tool", "system"];

/** The last id. Ids are not reused after messages are removed. */
let lastId = 0;

/**
 * Adds a message at the end.
 *
 * @param {string} role
 * @returns {HTMLTextAreaElement} its text field.
 */
export function addMessage(role) {
  const id = ++lastId;
  const select = element(
    "select",
    { id: `role-${id}` },
    ...ROLES.map((name) => element("option", { value: name }, name)),
  );
  select.value = role;
  const text = element("textarea", { id: `text-${id}`, rows: "3", dir: "auto" });
  const remove = element("button", { type: "button", class: "secondary" });
  const item = element(
    "li",
    {},
    element("div", {}, element("label", { for: select.id }), select),
    element("div", { class: "text" }, element("label", { for: text.id }), text),
    remove,
  );
  remove.addEventListener("click", () => {
    const before = item.previousElementSibling ?? item.nextElementSibling;
    item.remove();
    number();
    // The focused button was removed.
    (before?.querySelector("textarea") ?? byId("add")).focus();
  });
  byId("messages").append(item);
  number();
  return text;
}

/** Numbers the messages by position. */
function number() {
  for (const [index, item] of [...byId("messages").children].entries()) {
    const [role, text] = item.querySelectorAll("label");
    if (role) role.textContent = `Role of message ${index + 1}`;
    if (text) text.textContent = `Text of message ${index + 1}`;
    const remove = item.querySelector("button");
    if (remove) remove.textContent = `Remove message ${index + 1}`;
  }
}

/** Returns the messages in the editor. */
export function readMessages() {
  return [...byId("messages").children].map((item) => ({
    role: item.querySelector("select")?.value ?? "user",
    content: item.querySelector("textarea")?.value ?? "",
  }));
}
