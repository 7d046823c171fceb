import { EventEmitter } from "node:events";

/** A notice about a model: it is being downloaded, or its licence restricts its use. */
export interface ModelNotice {
  kind: "download" | "license";
  message: string;
}

const notices = new EventEmitter<{ notice: [ModelNotice] }>();
// By default, Node.js warns from the eleventh listener on, but every server of the process may listen.
notices.setMaxListeners(0);
const warned = new Set<string>();

/**
 * Subscribes to notices about models. Without a listener, warnings go to standard error.
 *
 * @returns a function that unsubscribes.
 */
export function onModelNotice(listener: (notice: ModelNotice) => void): () => void {
  notices.on("notice", listener);
  return () => notices.off("notice", listener);
}

/** Passes a notice to all listeners. */
export function publishNotice(notice: ModelNotice): void {
  if (notices.listenerCount("notice") > 0) notices.emit("notice", notice);
  else if (notice.kind === "license") process.emitWarning(notice.message, "GuardModelWarning");
}

/** Warns once per process about a model whose licence restricts its use. */
export function warnAboutLicense(model: string, license: string): void {
  if (!isRestricted(license) || warned.has(model)) return;
  warned.add(model);
  const message = `the licence of the model ${model}, ${license}, does not seem to allow commercial use`;
  publishNotice({ kind: "license", message });
}

/** Whether a licence of the hub allows only non-commercial use or research: https://huggingface.co/docs/hub/repositories-licenses. */
function isRestricted(license: string): boolean {
  return /(^|[^a-z])nc([^a-z]|$)|non-?_?commercial|research/i.test(license);
}
