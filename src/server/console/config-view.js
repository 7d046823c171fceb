// The view of the configuration: what runs, and from where.
import { scannerBadge } from "./checks.js";
import { card, element, emptyState, failureCard, table } from "./dom.js";
import { age, bytes, count, dateTime } from "./format.js";
import { CallError, call } from "./session.js";

/**
 * @typedef {import("./session.js").Scanner} Scanner
 * @typedef {{ version: string, node: string, started: string, processes: number, hash: string, file: string | null,
 *   from: string | null, warnings: string[], profiles: { name: string, scanners: Record<"input" | "output", Scanner[]> }[],
 *   models: { model: string, here: boolean, size?: number, license?: string }[],
 *   credentials: { name: string, type: string, profile: string, may: string[] }[],
 *   exceptions: { id: string, scanners: string[], reason: string, expires: string, origin: string, is_expired: boolean }[],
 *   settings: { name: string, value: string }[] }} ServerConfig
 */

/** @param {import("./session.js").Context} context */
export function configView({ onSignedOut }) {
  const content = element("div", { class: "stack" }, element("p", { class: "card loading" }, "Loading …"));
  async function update() {
    try {
      content.replaceChildren(...configCards(await call("admin/config")));
    } catch (error) {
      if (error instanceof CallError && error.status === 401) return onSignedOut(error.message);
      const again = element("button", { type: "button", class: "primary" }, "Try again");
      again.addEventListener("click", update);
      content.replaceChildren(failureCard(error, { action: again }));
    }
  }
  return {
    root: element(
      "div",
      { class: "stack" },
      element(
        "div",
        { class: "view-head" },
        element("h2", {}, "Configuration"),
        element("p", { class: "hint" }, "What runs, and from where."),
      ),
      content,
    ),
    open: update,
  };
}

/** @param {ServerConfig} config @returns {(Node | string)[]} */
function configCards(config) {
  const { profiles, models, credentials, exceptions, settings } = config;
  return [
    element("div", { class: "columns" }, serverCard(config), warningsCard(config.warnings)),
    ...profiles.map(({ name, scanners }) =>
      card(
        profiles.length > 1 ? `Scanners of profile ${name}` : "Scanners",
        {},
        element(
          "div",
          { class: "columns even" },
          scannerList("What goes to the model", `${name}: input`, scanners.input),
          scannerList("Answers", `${name}: output`, scanners.output),
        ),
      ),
    ),
    exceptions.length > 0 ? exceptionsCard(exceptions) : "",
    element(
      "div",
      { class: "columns even" },
      modelsCard(models),
      element("div", { class: "stack" }, credentialsCard(credentials), settingsCard(settings)),
    ),
  ];
}

/** @param {ServerConfig} config */
function serverCard({ version, node, started, processes, hash, file, from }) {
  const rows = [
    ["Configuration", file ?? "passed by a program"],
    ...(from ? [["Selected by", from]] : []),
    ["Hash", hash],
    ["Running since", `${dateTime(started)} (${age(started)})`],
    ["Processes", String(processes)],
    ["guard", version],
    ["Node.js", node],
  ];
  const items = rows.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", { class: "wrap" }, value)),
  );
  return card("Server", {}, element("dl", { class: "facts" }, ...items));
}

/** @param {readonly string[]} warnings */
function warningsCard(warnings) {
  if (warnings.length === 0)
    return card("Warnings", {}, emptyState("No warnings.", "guard-scan doctor examines this machine as well."));
  const items = warnings.map((warning) => {
    const [, about, text, advice] = /^([\w.]+): (.*?)(?: Advice: (.*))?$/s.exec(warning) ?? [];
    if (!about || !text) return element("li", {}, warning);
    return element(
      "li",
      {},
      element("strong", {}, about),
      " ",
      text.replace(/\.$/, ""),
      advice && element("span", { class: "advice" }, `→ ${advice}`),
    );
  });
  return card(
    "Warnings",
    { end: element("span", { class: "badge warned" }, count(warnings.length, "warning")) },
    element("ul", { class: "warnings" }, ...items),
  );
}

/** @param {string} title @param {string} label @param {readonly Scanner[]} scanners */
function scannerList(title, label, scanners) {
  const rows = scanners.map((scanner) => [
    element(
      "span",
      {},
      scanner.name,
      scanner.name !== scanner.type && element("span", { class: "hint" }, ` ${scanner.type}`),
      scannerBadge(scanner),
    ),
    limitOf(scanner),
    scanner.models.join(", ") || "rules",
    ...(label.endsWith("input") ? [scanner.sources.map((source) => source.replaceAll("_", " ")).join(", ")] : []),
  ]);
  const heads = ["Scanner", "#Threshold", "Model", ...(label.endsWith("input") ? ["Sources"] : [])];
  return element(
    "div",
    {},
    element("h4", {}, title),
    rows.length > 0 ? table(`Scanners, ${label}`, heads, rows) : emptyState("None.", "Every text passes."),
  );
}

/** @param {Scanner} scanner */
function limitOf({ threshold, minimum }) {
  if (minimum !== undefined) return `at least ${minimum}`;
  return threshold === undefined ? "–" : String(threshold);
}

/** @param {ServerConfig["models"]} models */
function modelsCard(models) {
  const rows = models.map(({ model, here, size, license }) => [
    model,
    size === undefined ? "–" : bytes(size),
    license ?? "–",
    here ? "yes" : element("span", { class: "badge warned" }, "to download"),
  ]);
  return card(
    "Models",
    {},
    rows.length > 0
      ? table("Models", ["Model", "#Size", "License", "Here"], rows)
      : emptyState("No models.", "All scanners are rules."),
  );
}

/** @param {ServerConfig["exceptions"]} exceptions */
function exceptionsCard(exceptions) {
  const rows = exceptions.map(({ id, scanners, reason, expires, origin, is_expired: isExpired }) => [
    id,
    scanners.join(", "),
    element("span", { class: "wide" }, reason),
    element("span", {}, expires, isExpired && element("span", { class: "badge warned" }, "expired")),
    origin,
  ]);
  const heads = ["Exception", "Scanners", "Reason", "Works until", "From"];
  return card("Exceptions", {}, table("Exceptions", heads, rows));
}

/** @param {ServerConfig["credentials"]} credentials */
function credentialsCard(credentials) {
  if (credentials.length === 0)
    return card("Credentials", {}, emptyState("None.", "The server accepts connections from this machine only."));
  const rows = credentials.map(({ name, type, profile, may }) => [
    name,
    type.replaceAll("_", " "),
    profile,
    may.map((right) => right.replaceAll("_", " ")).join(", ") || "–",
  ]);
  return card("Credentials", {}, table("Credentials", ["Name", "Type", "Profile", "May"], rows));
}

/** @param {ServerConfig["settings"]} settings */
function settingsCard(settings) {
  const hint = element("span", { class: "hint" }, "those that differ from the defaults");
  const rows = settings.map(({ name, value }) => [
    element("code", {}, name),
    element("code", { class: "wrap" }, value.replace(/^"(.*)"$/s, "$1")),
  ]);
  return card(
    "Settings",
    { end: hint },
    rows.length > 0 ? table("Settings", ["Setting", "Value"], rows) : emptyState("All settings are the defaults."),
  );
}
