// Asks for the credential, once.
import { element } from "./dom.js";
import { CallError, call, setCredential } from "./session.js";

/** @typedef {import("./session.js").Scheme} Scheme */

/**
 * Creates the form.
 *
 * @param {readonly Scheme[]} schemes
 * @param {(access: import("./session.js").Access, scheme: Scheme) => void} onSignedIn
 * @param {string} [message] why the form is shown again.
 */
export function signInForm(schemes, onSignedIn, message = "") {
  const scheme = element(
    "select",
    { id: "scheme" },
    ...schemes.map((item, index) => element("option", { value: index }, nameOf(item))),
  );
  const user = element("input", { id: "user", type: "text", spellcheck: "false", autocapitalize: "none" });
  const secret = element("input", { id: "secret", type: "password", autocomplete: "off" });
  const secretLabel = element("label", { for: "secret" });
  const userField = element("p", { class: "field" }, element("label", { for: "user" }, "User name"), user);
  const status = element("p", { class: "form-error", role: "alert" }, message);
  const button = element("button", { type: "submit", class: "primary" }, "Continue");
  const form = element(
    "form",
    { class: "card sign-in", "aria-labelledby": "sign-in-heading", autocomplete: "off", novalidate: true },
    element("h2", { id: "sign-in-heading" }, "Sign in"),
    element(
      "p",
      { class: "hint" },
      "This server asks for a credential. The page keeps it in its memory until you close or reload it.",
    ),
    schemes.length > 1 &&
      element("p", { class: "field" }, element("label", { for: "scheme" }, "Kind of credential"), scheme),
    userField,
    element("p", { class: "field" }, secretLabel, secret),
    status,
    button,
  );
  const chosen = () => /** @type {Scheme} */ (schemes[Number(scheme.value)]);
  const show = () => {
    userField.hidden = chosen().type !== "http_basic";
    secretLabel.textContent = secretOf(chosen());
  };
  scheme.addEventListener("change", show);
  show();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    status.textContent = "";
    setCredential(chosen(), user.value, secret.value);
    try {
      onSignedIn(await call("profiles"), chosen());
    } catch (error) {
      setCredential(undefined);
      status.textContent = messageOf(error);
      secret.focus();
    } finally {
      button.disabled = false;
    }
  });
  return form;
}

/** @param {unknown} error */
function messageOf(error) {
  if (error instanceof CallError && error.status === 401) return "The server does not accept this credential.";
  return error instanceof Error ? error.message : String(error);
}

/** @param {Scheme} scheme */
function nameOf(scheme) {
  if (scheme.type === "api_key") return `API key (${scheme.header})`;
  return scheme.type === "http_bearer" ? "Bearer token" : "User name and password";
}

/** @param {Scheme} scheme */
function secretOf(scheme) {
  return scheme.type === "http_basic" ? "Password" : nameOf(scheme);
}
