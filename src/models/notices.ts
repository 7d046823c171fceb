import { EventEmitter } from "node:events";

/** A notice to users about a model: that it is being downloaded, or that its licence restricts its use. */
export interface ModelNotice {
  kind: "download" | "license";
  message: string;
}

const notices = new EventEmitter<{ notice: [ModelNotice] }>();
// Node.js would warn from the eleventh listener on, but every server of the process may listen.
notices.setMaxListeners(0);
const warned = new Set<string>();

/**
 * Passes notices about models to a listener. While there is no listener, warnings go to standard error.
 *
 * @returns a function that ends it.
 */
export function onModelNotice(listener: (notice: ModelNotice) => void): () => void {
  notices.on("notice", listener);
  return () => notices.off("notice", listener);
}

/** Gives a notice to all listeners. */
export function notify(notice: ModelNotice): void {
  if (notices.listenerCount("notice") > 0) notices.emit("notice", notice);
  else if (notice.kind === "license") process.emitWarning(notice.message, "GuardModelWarning");
}

/** Warns about a model whose licence does not allow every use. The warning appears once per process. */
export function warnOfLicense(model: string, license: string): void {
  if (!isRestricted(license) || warned.has(model)) return;
  warned.add(model);
  const message = `the licence of the model ${model}, ${license}, does not seem to allow commercial use`;
  notify({ kind: "license", message });
}

/**
 * Recognizes the names of the hub's licences for non-commercial use and for research:
 * https://huggingface.co/docs/hub/repositories-licenses.
 */
function isRestricted(license: string): boolean {
  return /(^|[^a-z])nc([^a-z]|$)|non-?_?commercial|research/i.test(license);
}
