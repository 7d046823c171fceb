// The view that checks a text, and shows what the scanners say.
import { element, segments } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { listEditor } from "./messages.js";
import { resultOf } from "./result.js";
import { plannedView, resultView, verdictBanner } from "./result-view.js";
import { CallError, call } from "./session.js";

/**
 * @typedef {import("./session.js").Context} Context
 * @typedef {import("./session.js").Subject} Subject
 * @typedef {import("./session.js").Profile} Profile
 */

const KINDS = /** @type {const} */ ([
  ["prompt", "Prompt"],
  ["output", "Answer"],
  ["conversation", "Conversation"],
  ["documents", "Documents"],
]);
const SOURCES = /** @type {const} */ ([
  ["user", "a user"],
  ["tool", "a tool, page or mail"],
  ["system", "the system prompt"],
  ["assistant", "the model"],
]);

/** @param {Context} context */
export function tryView(context) {
  const editor = subjectEditor(context.access.profiles);
  const banner = verdictBanner();
  const report = element("div", { class: "stack" });
  const result = element(
    "section",
    { id: "result", class: "stack", "aria-label": "Result", tabindex: "-1" },
    banner.root,
    report,
  );
  const check = checker(context, editor, banner, report, result);
  /** Shows the scanners of the chosen profile, as nothing is checked with it yet. */
  const plan = () => {
    check.stop();
    banner.showNothing();
    const side = editor.kind() === "output" ? "output" : "input";
    report.replaceChildren(plannedView(editor.profile(), side));
  };
  editor.form.addEventListener("submit", (event) => {
    event.preventDefault();
    check.run();
  });
  editor.form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    editor.form.requestSubmit();
  });
  editor.form.addEventListener("change", (event) => {
    if (/** @type {HTMLInputElement} */ (event.target).name === "kind" || event.target === editor.profileField) plan();
  });
  const examples = EXAMPLES.map(({ title, create }) => {
    const button = element("button", { type: "button", class: "chip" }, title);
    button.addEventListener("click", () => {
      editor.write(create());
      check.run();
    });
    return element("li", {}, button);
  });
  plan();
  return {
    root: element(
      "div",
      {},
      element(
        "div",
        { class: "view-head" },
        element("h2", {}, "Try a text"),
        element("p", { class: "hint" }, "It goes to this server only, and is not stored."),
      ),
      element(
        "div",
        { class: "try" },
        element(
          "div",
          { class: "stack" },
          element(
            "div",
            { class: "examples" },
            element("h3", { id: "examples" }, "Examples"),
            element("ul", { "aria-labelledby": "examples" }, ...examples),
          ),
          editor.form,
        ),
        result,
      ),
    ),
  };
}

/**
 * Runs checks. A new one ends the one that runs.
 *
 * @param {Context} context
 * @param {ReturnType<typeof subjectEditor>} editor
 * @param {ReturnType<typeof verdictBanner>} banner
 * @param {HTMLElement} report
 * @param {HTMLElement} result
 */
function checker({ scheme, window, onSignedOut }, editor, banner, report, result) {
  let current = new AbortController();
  /** @type {string | undefined} The vault of the latest prompt with replaced values. */
  let vault;

  /** @param {Record<string, number>} [thresholds] those to send. */
  async function run(thresholds) {
    current.abort();
    current = new AbortController();
    const { signal } = current;
    const profile = editor.profile();
    result.setAttribute("aria-busy", "true");
    banner.showProgress();
    try {
      const subject = editor.read();
      const { path, body } = requestOf(subject, profile, thresholds);
      const sent = vault && subject.kind === "output" ? { ...body, vault } : body;
      const start = performance.now();
      const reply = await call(path, { body: sent, signal });
      const checked = resultOf({ subject, path, request: body, reply, milliseconds: performance.now() - start });
      vault = reply.vault ?? vault;
      const options = { profile, scheme, window, thresholds, onCheck: run };
      // The focused button is about to be removed.
      const hasFocus = report.contains(document.activeElement);
      report.replaceChildren(resultView(checked, banner, options));
      if (hasFocus) result.focus();
      if (matchMedia("(max-width: 64rem)").matches) result.scrollIntoView({ block: "start" });
    } catch (error) {
      // Another check has started, and shows its status.
      if (signal.aborted) return;
      if (error instanceof CallError && error.status === 401) return onSignedOut(EXPIRED);
      report.replaceChildren();
      banner.showError(error instanceof Error ? error.message : String(error));
    }
    result.removeAttribute("aria-busy");
  }
  return { run: () => run(), stop: () => current.abort() };
}

const EXPIRED = "The server does not accept this credential any more.";

/**
 * @param {Subject} subject
 * @param {Profile} profile
 * @param {Record<string, number> | undefined} thresholds
 */
function requestOf({ kind, ...texts }, { name, is_default: isDefault }, thresholds) {
  const { source, ...fields } = /** @type {Record<string, unknown>} */ (texts);
  return {
    path: `analyze/${kind}`,
    body: {
      ...fields,
      // The default of the API.
      ...(source === undefined || source === "user" ? {} : { source }),
      ...(isDefault ? {} : { profile: name }),
      ...(thresholds ? { thresholds } : {}),
      details: true,
    },
  };
}

/**
 * Creates the form with the text to check.
 *
 * @param {readonly Profile[]} profiles
 */
function subjectEditor(profiles) {
  const profileField = selectField(
    "profile",
    "Profile",
    profiles.map(({ name }) => [name, name]),
  );
  const source = selectField("source", "Source", SOURCES);
  const prompt = textField("prompt", "Prompt", 7);
  const output = textField("output", "Answer of the model", 7);
  const messages = listEditor("message", true);
  const documents = listEditor("document", false);
  const tools = textField("tools", "Definitions of tools, in JSON", 5);
  tools.input.spellcheck = false;
  const toolBox = element("details", {}, element("summary", {}, "Tools"), tools.root);
  const conversation = element("div", {}, messages.root, toolBox);
  const kinds = segments("What to check", "kind", KINDS, "prompt");
  /** @type {readonly [fields: HTMLElement, kinds: string][]} */
  const fields = [
    [prompt.root, "prompt output"],
    [source.root, "prompt"],
    [output.root, "output"],
    [conversation, "conversation"],
    [documents.root, "documents"],
  ];
  const form = element(
    "form",
    { class: "card form", "aria-label": "Text to check", autocomplete: "off", novalidate: true },
    kinds,
    element("div", { class: "lines" }, profiles.length > 1 && profileField.root, source.root),
    ...fields.flatMap(([field]) => (field === source.root ? [] : [field])),
    element(
      "p",
      { class: "actions" },
      element("button", { type: "submit", class: "primary", "aria-describedby": "keys" }, "Check"),
      element("span", { class: "hint", id: "keys" }, "or press Ctrl+Enter"),
    ),
  );
  const kind = () => /** @type {HTMLInputElement} */ (form.querySelector("input[name=kind]:checked")).value;
  const showFields = () => {
    for (const [field, names] of fields) field.hidden = !names.split(" ").includes(kind());
  };
  form.addEventListener("change", showFields);
  messages.set([{ content: "" }]);
  documents.set([{ content: "" }]);
  showFields();
  const inputs = { source, prompt, output, messages, documents, tools, toolBox };
  return {
    ...{ form, kind, profileField: profileField.input },
    profile: () => /** @type {Profile} */ (profiles[Math.max(0, profileField.input.selectedIndex)]),
    read: () => readSubject(kind(), inputs),
    /** @param {Subject} subject */
    write(subject) {
      const input = /** @type {HTMLInputElement} */ (form.querySelector(`input[value=${subject.kind}]`));
      input.checked = true;
      writeSubject(subject, inputs);
      showFields();
    },
  };
}

/**
 * @typedef {{ source: ReturnType<typeof selectField>, prompt: ReturnType<typeof textField>, output: ReturnType<typeof textField>,
 *   messages: import("./messages.js").ListEditor, documents: import("./messages.js").ListEditor,
 *   tools: ReturnType<typeof textField>, toolBox: HTMLDetailsElement }} Inputs
 */

/** @param {string} kind @param {Inputs} inputs @returns {Subject} */
function readSubject(kind, { source, prompt, output, messages, documents, tools }) {
  switch (kind) {
    case "output":
      return { kind, prompt: prompt.input.value, output: output.input.value };
    case "documents":
      return { kind, documents: documents.read().map(({ content }) => content) };
    case "conversation": {
      const definitions = readTools(tools.input.value);
      return { kind, messages: messages.read(), ...(definitions.length > 0 ? { tools: definitions } : {}) };
    }
    default:
      return { kind: "prompt", prompt: prompt.input.value, source: source.input.value };
  }
}

/** @param {Subject} subject @param {Inputs} inputs */
function writeSubject(subject, { source, prompt, output, messages, documents, tools, toolBox }) {
  if (subject.kind === "prompt" || subject.kind === "output") prompt.input.value = subject.prompt;
  if (subject.kind === "prompt") source.input.value = subject.source;
  if (subject.kind === "output") output.input.value = subject.output;
  if (subject.kind === "documents") documents.set(subject.documents.map((content) => ({ content })));
  if (subject.kind !== "conversation") return;
  messages.set(subject.messages);
  tools.input.value = subject.tools ? JSON.stringify(subject.tools, null, 2) : "";
  toolBox.open = subject.tools !== undefined;
}

/** @param {string} text @returns {unknown[]} @throws Error if it is no list in JSON. */
function readTools(text) {
  if (text.trim() === "") return [];
  try {
    const value = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {}
  throw new Error("The definitions of tools are not a list in JSON.");
}

/** @param {string} id @param {string} label @param {number} rows */
function textField(id, label, rows) {
  const input = element("textarea", { id, rows, dir: "auto" });
  return { input, root: element("p", { class: "field" }, element("label", { for: id }, label), input) };
}

/** @param {string} id @param {string} label @param {readonly (readonly [value: string, label: string])[]} choices */
function selectField(id, label, choices) {
  const options = choices.map(([value, name]) => element("option", { value }, name));
  const input = element("select", { id }, ...options);
  return { input, root: element("p", { class: "field line" }, element("label", { for: id }, label), input) };
}
