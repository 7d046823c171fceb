import { describeKind } from "../support/schema-messages.ts";
import { isNumberIn, isSpanOf } from "../text/span.ts";
import { diffEdits, type Edit } from "./edits.ts";
import type { Detection, Finding, Scanner, ScannerVerdict, Verdict } from "./scanner.ts";

/**
 * Validates the result of a scanner, and turns a whole rewritten text into an edit. Plugins may return anything, and an invalid result
 * must not count as a pass: scores that contradict `isValid`, spans outside the text or inside a character, overlapping edits, coverage
 * of more than the text. Only a scanner with {@link Scanner.sanitizes} may rewrite the text. Other scanners run at the same time, so the
 * offsets of their edits would be wrong as soon as one of them had rewritten it.
 *
 * @throws TypeError that names the invalid field. The message quotes nothing of the text.
 */
export function checkedVerdict(
  { sanitizes }: Pick<Scanner, "sanitizes">,
  text: string,
  verdict: ScannerVerdict,
): Verdict {
  const wrong = findFault(text, verdict);
  if (wrong !== undefined) throw new TypeError(`its result is not a verdict: ${wrong}`);
  const checked = toVerdict(text, verdict);
  if (sanitizes || !checked.edits?.length) return checked;
  throw new TypeError("its result rewrites the text, but the scanner does not have sanitizes: true");
}

/** Turns the whole rewritten text of a verdict into an edit. */
export function toVerdict(text: string, verdict: ScannerVerdict): Verdict {
  if (typeof verdict?.sanitized !== "string") return verdict;
  const { sanitized, ...rest } = verdict;
  const edits = diffEdits(text, sanitized);
  return edits.length > 0 ? Object.assign(rest, { edits }) : rest;
}

/**
 * Validates the result of a scanner's `detect`.
 *
 * @throws TypeError that describes the error, and quotes nothing of the text.
 */
export function checkedDetection<Found extends Pick<Detection, "score">>(detection: Found): Found {
  if (isNumberIn(detection?.score, 0, 1)) return detection;
  throw new TypeError("its detect() returned no { score } with a number from 0 to 1");
}

function findFault(text: string, verdict: ScannerVerdict): string | undefined {
  if (typeof verdict?.isValid !== "boolean") return "isValid is neither true nor false";
  const { isValid, score, probability, sanitized, edits, findings, coverage } = verdict;
  if (!isNumberIn(score, -1, 1)) return "score is no number from -1 to 1";
  // The sign alone must give the verdict, for programs that read only scores. A score of 0 does not fail a text.
  if (score > 0 === isValid) return `score ${score} contradicts isValid: ${isValid}`;
  if (probability !== undefined && !isNumberIn(probability, 0, 1)) return "probability is no number from 0 to 1";
  if (sanitized !== undefined && typeof sanitized !== "string")
    return `sanitized is ${describeKind(sanitized)}, and no text`;
  if (edits !== undefined && sanitized !== undefined) return "edits and sanitized are given both";
  if (edits !== undefined && !areEdits(text, edits)) return "edits is no ordered list of { start, end, replacement }";
  if (!Array.isArray(findings)) return "findings is no array";
  const index = findings.findIndex((finding) => !isFinding(text, finding));
  if (index >= 0) return `findings.${index} is no { start, end, type, score } of a part of the text`;
  return findCoverageFault(text, coverage);
}

function findCoverageFault(text: string, coverage: Verdict["coverage"]): string | undefined {
  const { chars, scannedChars, truncated, windows, untrainedLanguages: languages } = coverage ?? {};
  if (chars !== text.length) return "coverage.chars is not the length of the text";
  if (!isNumberIn(scannedChars, 0, chars)) return "coverage.scannedChars is no number from 0 to coverage.chars";
  if (typeof truncated !== "boolean") return "coverage.truncated is neither true nor false";
  if (!Number.isInteger(windows) || windows < 0) return "coverage.windows is no whole number from 0 on";
  const areTexts = languages === undefined || (Array.isArray(languages) && languages.every(isText));
  return areTexts ? undefined : "coverage.untrainedLanguages is no array of texts";
}

function areEdits(text: string, edits: readonly Edit[]): boolean {
  if (!Array.isArray(edits)) return false;
  let end = 0;
  for (const edit of edits) {
    if (!isSpanOf(text, edit ?? {}) || !isText(edit.replacement) || edit.start < end) return false;
    end = edit.end;
  }
  return true;
}

function isFinding(text: string, finding: Finding): boolean {
  const { type, score, ...rest } = (finding ?? {}) as Finding;
  return (
    isSpanOf(text, rest) &&
    isText(type) &&
    isNumberIn(score, 0, 1) &&
    isExplanation(rest.explanation) &&
    [rest.text, rest.label, rest.service, rest.evidence, rest.view].every((value) => value == null || isText(value))
  );
}

function isExplanation(explanation: Finding["explanation"] | null): boolean {
  if (explanation == null) return true;
  const { by, id, pattern, context, check } = explanation;
  const isCheck = check == null || (isText(check.id) && typeof check.passed === "boolean");
  return isCheck && isText(by) && isText(id) && [pattern, context].every((value) => value == null || isText(value));
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}
