// The page at `/` sends a text or a conversation to the API of this server, and shows the reply.
import { CallError, check } from "./client.js";
import { credentialHeaders, showCredential } from "./credential.js";
import { byId } from "./dom.js";
import { addMessage, readMessages } from "./messages.js";
import { reportOf, summaryOf } from "./report.js";

/** @type {{ schemes: import("./credential.js").Scheme[], window: number }} */
const settings = JSON.parse(document.body.dataset.settings ?? "");
const form = /** @type {HTMLFormElement} */ (byId("form"));
const result = byId("result");

/** @type {string | undefined} The vault of the latest prompt with replaced values. */
let vault;
/** Aborts the current check when another one starts. */
let current = new AbortController();

/** @returns {string} */
function chosenKind() {
  return /** @type {HTMLInputElement} */ (form.querySelector('input[name="kind"]:checked')).value;
}

/** Shows the fields of the chosen kind. */
function showFields() {
  const kind = chosenKind();
  for (const field of form.querySelectorAll("[data-kinds]")) {
    /** @type {HTMLElement} */ (field).hidden = !field.getAttribute("data-kinds")?.split(" ").includes(kind);
  }
  if (!vault) byId("vault-field").hidden = true;
}

/** @returns {import("./client.js").Subject} */
function readSubject() {
  /** @param {string} id */
  const text = (id) => /** @type {HTMLTextAreaElement} */ (byId(id)).value;
  switch (chosenKind()) {
    case "conversation":
      return { kind: "conversation", messages: readMessages() };
    case "output":
      return { kind: "output", prompt: text("prompt"), output: text("output") };
    default:
      return { kind: "prompt", prompt: text("prompt") };
  }
}

/**
 * Shows the status of a check in the live region, which screen readers read out.
 *
 * @param {string} text
 * @param {"passes" | "fails" | ""} verdict
 */
function showStatus(text, verdict) {
  const status = byId("status");
  status.className = `status ${verdict}`;
  status.textContent = text;
}

async function submit() {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const subject = readSubject();
  const sendsVault = subject.kind === "output" && /** @type {HTMLInputElement} */ (byId("vault")).checked;
  result.setAttribute("aria-busy", "true");
  showStatus("Checking …", "");
  try {
    const headers = credentialHeaders(settings.schemes);
    const checked = await check(subject, { headers, vault: sendsVault ? vault : undefined, signal });
    vault = checked.reply.vault ?? vault;
    byId("report").replaceChildren(...reportOf(subject, checked, settings.window));
    showStatus(summaryOf(checked), checked.reply.is_valid ? "passes" : "fails");
  } catch (error) {
    // Another check has started, and shows its status.
    if (signal.aborted) return;
    byId("report").replaceChildren();
    showStatus(error instanceof Error ? error.message : String(error), "fails");
    if (error instanceof CallError && error.status === 401) byId("secret").focus();
  }
  result.removeAttribute("aria-busy");
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.requestSubmit();
});
form.addEventListener("change", showFields);
byId("add").addEventListener("click", () => addMessage("user").focus());

addMessage("user");
showCredential(settings.schemes);
showFields();
