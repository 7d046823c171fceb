// Reads the reply of a check, and judges it again when thresholds are moved by hand.
import { blocksOf } from "./places.js";

/**
 * @typedef {import("./session.js").Profile} Profile
 * @typedef {import("./session.js").Scanner} Scanner
 * @typedef {import("./session.js").Check} Check
 * @typedef {import("./session.js").DocumentReply} DocumentReply
 * @typedef {import("./session.js").Finding} Finding
 * @typedef {import("./session.js").Reply} Reply
 * @typedef {import("./session.js").Subject} Subject
 * @typedef {{ subject: Subject, path: string, request: object, reply: Reply, milliseconds: number, checks: Check[] }} Result
 * @typedef {ReadonlyMap<string, number>} Thresholds Thresholds that were moved by hand, by the names of scanners.
 * @typedef {{ outcome: string, checks: Check[], failing: Check[], monitored: Check[], isMoved: boolean,
 *   needsCheck: string[] }} Judgement `needsCheck` are checks that fail only with the moved thresholds, so their findings are not known.
 */

/**
 * Returns what a reply says, with the checks of documents merged.
 *
 * @param {Omit<Result, "checks">} given
 * @returns {Result}
 */
export function resultOf(given) {
  const { checks, documents } = given.reply;
  return { ...given, checks: checks ?? mergedChecks(documents ?? []) };
}

/** Merges the checks of documents by name: the worst verdict. @param {readonly DocumentReply[]} documents */
function mergedChecks(documents) {
  /** @type {Map<string, Check>} */
  const merged = new Map();
  for (const check of documents.flatMap(({ checks }) => checks)) {
    const known = merged.get(check.name);
    const worse = known && known.score >= check.score ? known : check;
    merged.set(check.name, { ...worse, timing: (known?.timing ?? 0) + check.timing });
  }
  return [...merged.values()];
}

/**
 * Returns the scanner of a check.
 *
 * @param {Profile} profile
 * @param {Check} check
 * @returns {Scanner | undefined}
 */
export function scannerOf({ scanners }, { scanner, scope }) {
  return (scope === "output" ? scanners.output : scanners.input).find(({ name }) => name === scanner);
}

/** Returns the threshold of a scanner in the configuration: a probability above it fails. @param {Scanner | undefined} scanner */
export function configuredThreshold(scanner) {
  if (scanner?.minimum !== undefined) return 1 - scanner.minimum;
  return scanner?.threshold;
}

/**
 * Whether the verdict of a check follows from its probability and the threshold, so that it can be judged again.
 *
 * @param {Check} check
 * @param {Scanner | undefined} scanner
 */
export function isAdjustable({ probability, is_valid }, scanner) {
  const threshold = configuredThreshold(scanner);
  return probability !== undefined && threshold !== undefined && probability > threshold === !is_valid;
}

/**
 * Judges a result with thresholds that were moved by hand.
 *
 * @param {Result} result
 * @param {Profile} profile
 * @param {Thresholds} thresholds
 * @returns {Judgement}
 */
export function judge(result, profile, thresholds) {
  const checks = result.checks.map((check) => {
    const moved = thresholds.get(check.scanner);
    if (moved === undefined || !isAdjustable(check, scannerOf(profile, check))) return check;
    const is_valid = /** @type {number} */ (check.probability) <= moved;
    return is_valid === check.is_valid ? check : { ...check, is_valid, outcome: is_valid ? "passed" : "flagged" };
  });
  const failing = checks.filter(({ is_valid, mode }) => !is_valid && mode !== "monitor");
  const monitored = checks.filter(({ is_valid, mode }) => !is_valid && mode === "monitor");
  const isChanged = checks.some((check, index) => check !== result.checks[index]);
  const needsCheck = failing.filter(({ name }) => result.checks.find((check) => check.name === name)?.is_valid);
  return {
    ...{ checks, failing, monitored, isMoved: thresholds.size > 0, needsCheck: needsCheck.map(({ name }) => name) },
    outcome: isChanged ? outcomeOf(failing, checks, profile) : result.reply.outcome,
  };
}

/** Decides as the server does. @param {readonly Check[]} failing @param {readonly Check[]} checks @param {Profile} profile */
function outcomeOf(failing, checks, profile) {
  if (failing.length === 0) {
    return checks.some(({ outcome, mode }) => outcome === "review" && mode !== "monitor") ? "review" : "passed";
  }
  const isMasked = failing.every((check) => check.outcome === "rewritten" && scannerOf(profile, check)?.masks === true);
  return isMasked ? "masked" : "blocked";
}

/**
 * Returns the texts of a result with the findings of the checks that fail.
 *
 * @param {Result} result
 * @param {Judgement} judgement
 * @param {Thresholds} thresholds
 * @param {number} window number of user messages that the server scans together.
 */
export function markedBlocks({ subject, reply }, { checks }, thresholds, window) {
  /** @param {Readonly<Record<string, Finding[]>>} findings */
  const shown = (findings) =>
    Object.fromEntries(
      Object.entries(findings).map(([name, found]) => {
        const check = checks.find((item) => item.name === name);
        // Checks such as the accumulated risk, and those whose findings do not make a text fail, are shown as they are.
        const moved = check && thresholds.get(check.scanner);
        if (moved === undefined) return [name, found];
        return [name, check?.is_valid ? [] : found.filter(({ score }) => score > moved)];
      }),
    );
  if (subject.kind !== "documents") return blocksOf(subject, shown(reply.findings ?? {}), window);
  const blocks = (reply.documents ?? []).map(({ findings }, index) => {
    const text = subject.documents[index] ?? "";
    const { blocks } = blocksOf({ kind: "prompt", prompt: text, source: "tool" }, shown(findings), window);
    return { title: `Document ${index + 1}`, text, placed: blocks[0]?.placed ?? [] };
  });
  return { blocks, unplaced: [] };
}

/**
 * Returns the texts that were rewritten.
 *
 * @param {Result} result
 * @returns {{ title: string, text: string }[]}
 */
export function rewrittenTexts({ subject, reply }) {
  switch (subject.kind) {
    case "prompt":
      return changed([["Prompt", subject.prompt, reply.sanitized_prompt]]);
    case "output":
      return changed([["Answer", subject.output, reply.sanitized_output]]);
    case "documents":
      return changed(
        subject.documents.map((text, index) => [
          `Document ${index + 1}`,
          text,
          reply.documents?.[index]?.sanitized_text,
        ]),
      );
    case "conversation":
      return changed(
        subject.messages.map(({ role, content }, index) => [
          `Message ${index + 1}: ${role}`,
          content,
          reply.sanitized_messages?.[index]?.content,
        ]),
      );
  }
}

/** @param {readonly [title: string, text: string, sanitized: string | undefined][]} texts */
function changed(texts) {
  return texts.flatMap(([title, text, sanitized]) =>
    typeof sanitized === "string" && sanitized !== text ? [{ title, text: sanitized }] : [],
  );
}
