// The console at `/`: signs in, and shows one view at a time.
import { configView } from "./config-view.js";
import { byId, element, failureCard } from "./dom.js";
import { reviewView } from "./review-view.js";
import { call, setCredential } from "./session.js";
import { signInForm } from "./sign-in.js";
import { trafficView } from "./traffic-view.js";
import { tryView } from "./try-view.js";

/**
 * @typedef {import("./session.js").Access} Access
 * @typedef {import("./session.js").Scheme} Scheme
 * @typedef {import("./session.js").Context} Context
 * @typedef {import("./session.js").View} View
 */

/** @type {{ schemes: Scheme[], window: number }} */
const settings = JSON.parse(document.body.dataset.settings ?? "");
const serviceName = document.title;
const main = byId("main");
const navigation = byId("views");

/**
 * The views by the hash of their address, each with the right that it needs.
 *
 * @type {readonly { id: string, name: string, create(context: Context): View, right?: "may_review" | "may_administer" }[]}
 */
const VIEWS = [
  { id: "try", name: "Try", create: tryView },
  { id: "review", name: "Review", create: reviewView, right: "may_review" },
  { id: "traffic", name: "Traffic", create: trafficView, right: "may_administer" },
  { id: "config", name: "Config", create: configView, right: "may_administer" },
];

/** @type {Context | undefined} */
let context;
/** The views that were opened. Their state is kept while others are shown. @type {Map<string, View>} */
const opened = new Map();
/** @type {View | undefined} */
let current;

/** Shows the view of the address. @param {boolean} movesFocus */
function showView(movesFocus) {
  if (!context) return;
  const { access } = context;
  const allowed = VIEWS.filter(({ right }) => !right || access[right]);
  const chosen = allowed.find(({ id }) => `#${id}` === location.hash) ?? allowed[0];
  if (!chosen) return;
  /** @type {View} */
  const view = opened.get(chosen.id) ?? chosen.create(context);
  opened.set(chosen.id, view);
  current?.close?.();
  current = view;
  main.replaceChildren(view.root);
  view.open?.();
  document.title = `${chosen.name} – ${serviceName}`;
  navigation.hidden = allowed.length < 2;
  navigation.replaceChildren(
    ...allowed.map(({ id, name }) =>
      element("a", { href: `#${id}`, "aria-current": id === chosen.id ? "page" : undefined }, name),
    ),
  );
  if (movesFocus) main.focus();
}

/** @param {Access} access @param {Scheme} [scheme] */
function enter(access, scheme) {
  context = { access, scheme, window: settings.window, onSignedOut: leave };
  if (access.credential !== null) {
    const button = element("button", { type: "button", class: "quiet" }, "Sign out");
    button.addEventListener("click", () => leave());
    byId("who").replaceChildren(element("span", { class: "who-name" }, access.credential), button);
    byId("who").hidden = false;
  }
  showView(scheme !== undefined);
}

/** Forgets the credential and all that was shown. @param {string} [message] */
function leave(message) {
  current?.close?.();
  current = undefined;
  context = undefined;
  opened.clear();
  setCredential(undefined);
  navigation.hidden = true;
  byId("who").hidden = true;
  document.title = serviceName;
  main.replaceChildren(signInForm(settings.schemes, enter, message));
  byId("secret").focus();
}

async function start() {
  if (settings.schemes.length > 0) return main.replaceChildren(signInForm(settings.schemes, enter));
  try {
    enter(await call("profiles"));
  } catch (error) {
    const again = element("button", { type: "button", class: "primary" }, "Try again");
    again.addEventListener("click", start);
    main.replaceChildren(failureCard(error, { action: again }));
  }
}

addEventListener("hashchange", () => {
  // The link that skips to the content has no view.
  if (location.hash !== "#main") showView(true);
});
start();
