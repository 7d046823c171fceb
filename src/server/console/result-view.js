// Shows the result of a check.
import { checkList, plannedChecks } from "./checks.js";
import { card, element, emptyState, uniqueId } from "./dom.js";
import { checkTitle, count, milliseconds, number } from "./format.js";
import { markedTexts } from "./marks.js";
import { judge, markedBlocks, rewrittenTexts } from "./result.js";
import { curlOf, pythonOf, typescriptOf } from "./snippets.js";

/**
 * @typedef {import("./result.js").Judgement} Judgement
 * @typedef {import("./result.js").Result} Result
 * @typedef {import("./session.js").Profile} Profile
 * @typedef {{ profile: Profile, scheme: import("./session.js").Scheme | undefined, window: number,
 *   thresholds: Record<string, number> | undefined, onCheck(thresholds?: Record<string, number>): void }} ResultOptions
 *   `thresholds` are those of the request, and `onCheck` checks the texts again with others.
 */

const OUTCOMES = /** @type {Record<string, string>} */ ({
  passed: "Passed",
  masked: "Masked",
  review: "In review",
  blocked: "Blocked",
});

/** The banner above the result. It is a live region: screen readers read it out when it changes. */
export function verdictBanner() {
  const root = element("div", { class: "verdict", role: "status" });
  /** @param {string} name @param {string} title @param {string} text */
  const show = (name, title, text) => {
    root.className = `verdict ${name}`;
    root.replaceChildren(element("strong", {}, title), " ", element("span", {}, text));
  };
  return {
    root,
    showNothing: () => show("none", "Nothing checked yet.", "Choose an example, or write a text and press Check."),
    showProgress: () => show("none", "Checking …", ""),
    /** @param {string} message */
    showError: (message) => show("error", "Not checked.", message),
    /** @param {Result} result @param {Judgement} judgement */
    showResult(result, judgement) {
      const { outcome, isMoved } = judgement;
      const source = isMoved ? " Judged on this page with your thresholds." : "";
      show(outcome, `${OUTCOMES[outcome] ?? outcome}.`, reasonOf(result, judgement) + source);
    },
  };
}

/** Explains an outcome in one or two sentences. @param {Result} result @param {Judgement} judgement */
function reasonOf({ reply, milliseconds: ms, checks }, { outcome, failing, monitored }) {
  const names = failing.map(({ name }) => checkTitle(name)).join(", ");
  const took = `${milliseconds(ms)}${reply.cache === "hit" ? ", from the cache" : ""}.`;
  const would =
    monitored.length > 0
      ? ` Would fail if it were enforced: ${monitored.map(({ name }) => checkTitle(name)).join(", ")}.`
      : "";
  if (checks.length === 0) return `No scanner has checked it. ${took}`;
  if (failing.length > 0) {
    const masked = outcome === "masked" ? " What they found is replaced, so the rewritten text may be used." : "";
    return `${failing.length} of ${count(checks.length, "check")} failed: ${names}.${masked}${would} ${took}`;
  }
  if (outcome === "review") return `${reviewText(reply, checks)}${would} ${took}`;
  if (reply.reviews && reply.outcome === "blocked") return `A person has rejected it.${would} ${took}`;
  if (outcome === "passed") return `None of ${count(checks.length, "check")} failed.${would} ${took}`;
  return `No check failed, but a part of the text or a check was skipped.${would} ${took}`;
}

/** @param {Result["reply"]} reply @param {Result["checks"]} checks */
function reviewText({ is_valid: isUsed, reviews = [] }, checks) {
  const names = checks.filter(({ outcome }) => outcome === "review").map(({ name }) => checkTitle(name));
  const effect = isUsed ? "It may be used, and a person can still reject it" : "A person has to approve it first";
  const ids = reviews.map(({ id }) => id).join(", ");
  return `${effect}: ${names.join(", ")}${ids && ` (${ids})`}.`;
}

/** Shows what will be checked, before the first check. @param {Profile} profile @param {"input" | "output"} side */
export function plannedView(profile, side) {
  const scanners = profile.scanners[side];
  const what = side === "input" ? "Checks of what goes to the model" : "Checks of answers";
  return card(
    "Checks",
    { end: element("span", { class: "hint" }, `${what}, in profile ${profile.name}`) },
    scanners.length > 0
      ? plannedChecks(scanners)
      : emptyState("No scanner runs here.", "Every text passes. The configuration lists none for this side."),
  );
}

/**
 * Shows a result. Thresholds that are moved by hand change the verdict and the marks at once, without a request.
 *
 * @param {Result} result
 * @param {ReturnType<typeof verdictBanner>} banner
 * @param {ResultOptions} options
 * @returns {HTMLElement}
 */
export function resultView(result, banner, options) {
  const profile = withThresholds(options.profile, options.thresholds ?? {});
  /** @type {Map<string, number>} */
  const moved = new Map();
  const texts = element("div", { class: "texts" });
  const code = codeCard(result, options.scheme);
  const reset = () => {
    const fresh = resultView(result, banner, options);
    root.replaceWith(fresh);
    fresh.querySelector("input")?.focus();
  };
  const check = () => options.onCheck(sentThresholds(profile, moved, options.thresholds));
  const panel = thresholdPanel(options, check, reset);
  const checks = checkList(profile, result.checks, (scanner, threshold) => {
    moved.set(scanner, threshold);
    update();
  });
  const update = () => {
    const judgement = judge(result, profile, moved);
    checks.show(judgement);
    banner.showResult(result, judgement);
    const { blocks, unplaced } = markedBlocks(result, judgement, moved, options.window);
    const names = result.checks.map(({ name }) => name);
    texts.replaceChildren(...markedTexts(blocks, unplaced, names));
    panel.show(judgement);
    if (profile.may_set_thresholds) code.show(sentThresholds(profile, moved, options.thresholds));
  };
  const root = element(
    "div",
    { class: "stack" },
    card("Findings", {}, texts),
    card(
      "Checks",
      {
        end: element(
          "span",
          { class: "hint" },
          "Bar: probability. Handle: threshold. Move it, and the verdict follows.",
        ),
      },
      result.checks.length > 0
        ? checks.root
        : emptyState("No scanner has checked it.", "The configuration lists none."),
      panel.root,
    ),
    rewrittenCard(result),
    coverageCard(result),
    code.root,
  );
  code.show({});
  update();
  return root;
}

/** Returns a profile with the thresholds of a request. @param {Profile} profile @param {Record<string, number>} thresholds */
function withThresholds(profile, thresholds) {
  /** @param {import("./session.js").Scanner} scanner */
  const changed = (scanner) => {
    const value = thresholds[scanner.name];
    if (value === undefined) return scanner;
    return scanner.minimum === undefined ? { ...scanner, threshold: value } : { ...scanner, minimum: value };
  };
  const { input, output } = profile.scanners;
  return { ...profile, scanners: { input: input.map(changed), output: output.map(changed) } };
}

/**
 * Returns the thresholds for a request: minimums are sent as minimums.
 *
 * @param {Profile} profile
 * @param {ReadonlyMap<string, number>} moved
 * @param {Record<string, number> | undefined} earlier
 */
function sentThresholds({ scanners }, moved, earlier) {
  const all = [...scanners.input, ...scanners.output];
  const entries = [...moved].map(([name, value]) => {
    const isMinimum = all.find((scanner) => scanner.name === name)?.minimum !== undefined;
    return [name, isMinimum ? Number((1 - value).toFixed(2)) : value];
  });
  return { ...earlier, ...Object.fromEntries(entries) };
}

/**
 * Creates the line below the checks, which says what moved thresholds mean.
 *
 * @param {ResultOptions} options
 * @param {() => void} onCheck
 * @param {() => void} onReset
 */
function thresholdPanel({ profile, thresholds, onCheck: check }, onCheck, onReset) {
  const { may_set_thresholds: isAllowed } = profile;
  const note = element("p", { class: "hint" });
  /** @param {string} name @param {() => void} act */
  const button = (name, act) => {
    const created = element("button", { type: "button", class: "secondary" }, name);
    created.addEventListener("click", act);
    return created;
  };
  const again = button("Check with these thresholds", onCheck);
  const reset = button("Reset thresholds", onReset);
  const configured = button("Check with the configured thresholds", () => check());
  const root = element("div", { class: "moved" }, note, isAllowed && again, reset, configured);
  return {
    root,
    /** @param {Judgement} judgement */
    show({ isMoved, needsCheck }) {
      const unknown =
        needsCheck.length > 0 ? `What ${needsCheck.map(checkTitle).join(", ")} found is known after a new check. ` : "";
      const how = isAllowed
        ? ""
        : "Requests to this profile may not set thresholds: change the configuration to keep them.";
      const sent = thresholds ? "Checked with your thresholds. " : "";
      note.textContent = sent + (isMoved ? unknown + how : "");
      again.hidden = !isMoved;
      reset.hidden = !isMoved;
      configured.hidden = !thresholds;
      root.hidden = !isMoved && !thresholds;
    },
  };
}

/** @param {Result} result */
function rewrittenCard(result) {
  const texts = rewrittenTexts(result);
  if (texts.length === 0) return null;
  return card(
    "Rewritten text",
    {},
    ...texts.flatMap(({ title, text }) => [
      texts.length > 1 && element("h4", {}, title),
      element("p", { class: "text-shown rewritten", dir: "auto" }, text),
    ]),
    result.reply.vault &&
      element(
        "p",
        { class: "hint" },
        "The reply has a vault with the replaced values. Check an answer to restore them.",
      ),
  );
}

/** @param {Result} result */
function coverageCard({ reply: { coverage } }) {
  const { chars, scanned_chars: scanned } = coverage;
  const lists = ["suppressed", "failed", "state_elsewhere", "unknown_fields"];
  const rows = [
    ["Characters", number(chars)],
    ["Scanned", scanned === chars ? "all of them" : number(scanned)],
    ["Windows", number(coverage.windows)],
    ...(coverage.parts_skipped > 0 ? [["Skipped parts of messages", number(coverage.parts_skipped)]] : []),
    ...lists.flatMap((name) => {
      const items = /** @type {string[]} */ (coverage[name] ?? []);
      return items.length > 0 ? [[name.replaceAll("_", " "), items.join(", ")]] : [];
    }),
    ...Object.entries(/** @type {Record<string, string[]>} */ (coverage.untrained_language ?? {})).map(
      ([name, languages]) => [`Languages unknown to ${name}`, languages.join(", ")],
    ),
    ...Object.entries(/** @type {Record<string, number>} */ (coverage.unscanned_sources ?? {})).map(
      ([source, length]) => [`Not scanned: ${source}`, count(length, "character")],
    ),
  ];
  const items = rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  return card("Coverage", {}, element("dl", { class: "facts" }, ...items));
}

/** @param {Result} result @param {ResultOptions["scheme"]} scheme */
function codeCard({ path, request, reply }, scheme) {
  const url = new URL(path, document.baseURI).href;
  const code = element("code");
  const copied = element("span", { class: "hint", role: "status" });
  const copy = element("button", { type: "button", class: "secondary" }, "Copy");
  /** @type {Record<string, number>} */
  let thresholds = {};
  const name = uniqueId("language");
  const languages = /** @type {const} */ (["curl", "TypeScript", "Python", "Reply"]);
  let chosen = /** @type {typeof languages[number]} */ ("curl");
  const show = () => {
    const hasOwn = Object.keys(thresholds).length > 0;
    const given = { url, scheme, body: { ...request, ...(hasOwn ? { thresholds } : {}) } };
    code.textContent = {
      curl: () => curlOf(given),
      TypeScript: () => typescriptOf(given),
      Python: () => pythonOf(given),
      Reply: () => JSON.stringify(reply, null, 2),
    }[chosen]();
    copied.textContent = "";
  };
  copy.addEventListener("click", async () => {
    copied.textContent = await navigator.clipboard.writeText(code.textContent ?? "").then(
      () => "Copied.",
      () => "The browser does not allow it: select the text.",
    );
  });
  const tabs = languages.map((language) => {
    const input = element("input", { type: "radio", name, value: language, checked: language === chosen });
    input.addEventListener("change", () => {
      chosen = language;
      show();
    });
    return element("label", {}, input, element("span", {}, language));
  });
  const root = card(
    "Use it in your code",
    { end: element("span", { class: "copying" }, copied, copy) },
    element("fieldset", { class: "segments" }, element("legend", { class: "hidden-label" }, "Language"), ...tabs),
    scheme &&
      element(
        "p",
        { class: "hint" },
        "The variable GUARD_CREDENTIAL has your credential",
        scheme.type === "http_basic" ? ": user:password." : ".",
      ),
    element("pre", { tabindex: "0", role: "group", "aria-label": "Code" }, code),
  );
  return {
    root,
    /** @param {Record<string, number>} given */
    show(given) {
      thresholds = given;
      show();
    },
  };
}
