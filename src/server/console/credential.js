// The fields of the credential. Their values are not stored.
import { byId, element } from "./dom.js";

/**
 * @typedef {{ type: "http_bearer" } | { type: "http_basic" } | { type: "api_key", header: string }} Scheme A kind of
 *   credential that the server accepts.
 */

/**
 * Shows the fields for the credentials of a server, if there are any.
 *
 * @param {readonly Scheme[]} schemes
 */
export function showCredential(schemes) {
  if (schemes.length === 0) return;
  byId("credential").hidden = false;
  byId("scheme-field").hidden = schemes.length === 1;
  const scheme = /** @type {HTMLSelectElement} */ (byId("scheme"));
  scheme.append(...schemes.map((item, index) => element("option", { value: String(index) }, nameOf(item))));
  const show = () => {
    const chosen = schemes[Number(scheme.value)];
    byId("user-field").hidden = chosen?.type !== "http_basic";
    byId("secret-label").textContent = chosen ? secretOf(chosen) : "";
  };
  scheme.addEventListener("change", show);
  show();
}

/**
 * Returns the headers with the entered credential, if there is one.
 *
 * @param {readonly Scheme[]} schemes
 * @returns {Record<string, string>}
 */
export function credentialHeaders(schemes) {
  const scheme = schemes[Number(/** @type {HTMLSelectElement} */ (byId("scheme")).value)];
  const secret = /** @type {HTMLInputElement} */ (byId("secret")).value;
  if (!scheme || secret === "") return {};
  switch (scheme.type) {
    case "http_bearer":
      return { authorization: `Bearer ${secret}` };
    case "api_key":
      return { [scheme.header]: secret };
    case "http_basic": {
      const user = /** @type {HTMLInputElement} */ (byId("user")).value;
      // RFC 7617 with UTF-8, as in the challenge of the server. btoa accepts bytes only.
      const bytes = new TextEncoder().encode(`${user}:${secret}`);
      return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
    }
  }
}

/** @param {Scheme} scheme */
function nameOf(scheme) {
  if (scheme.type === "api_key") return `API key (${scheme.header})`;
  return scheme.type === "http_bearer" ? "Bearer token" : "User name and password";
}

/** @param {Scheme} scheme */
function secretOf(scheme) {
  if (scheme.type === "api_key") return `API key (${scheme.header})`;
  return scheme.type === "http_bearer" ? "Bearer token" : "Password";
}
