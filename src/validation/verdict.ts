import type { Finding, Verdict } from "../scanner.ts";

/**
 * Checks what a scanner returned for a text. A scanner that is not guard's own may return anything, and what is not a verdict must not
 * count as a pass: no score that contradicts the verdict, no place outside the text, no coverage of more than there is.
 *
 * @throws TypeError that says what is wrong, and quotes nothing of the text.
 */
export function checkedVerdict(text: string, verdict: Verdict): Verdict {
  const wrong = wrongIn(text, verdict);
  if (wrong !== undefined) throw new TypeError(`its result is not a verdict: ${wrong}`);
  return verdict;
}

function wrongIn(text: string, verdict: Verdict): string | undefined {
  if (typeof verdict?.isValid !== "boolean") return "expected { isValid, score, findings, coverage }";
  const { isValid, score, probability, sanitized, findings, coverage } = verdict;
  if (!isWithin(score, -1, 1)) return "score is no number from -1 to 1";
  if (isValid ? score > 0 : score < 0) return `score ${score} contradicts isValid: ${isValid}`;
  if (probability !== undefined && !isWithin(probability, 0, 1)) return "probability is no number from 0 to 1";
  if (sanitized !== undefined && typeof sanitized !== "string") return "sanitized is no string";
  if (!Array.isArray(findings)) return "findings is no array";
  const index = findings.findIndex((finding) => !isFinding(text, finding));
  if (index >= 0) return `findings.${index} is no { start, end, type, score } of a part of the text`;
  const { chars, scannedChars } = coverage ?? {};
  if (chars !== text.length) return "coverage.chars is not the length of the text";
  return isWithin(scannedChars, 0, chars) ? undefined : "coverage.scannedChars is no number from 0 to coverage.chars";
}

function isFinding(text: string, finding: Finding): boolean {
  const { start, end, type, score, ...rest } = (finding ?? {}) as Finding;
  return (
    Number.isInteger(start) &&
    Number.isInteger(end) &&
    isWithin(start, 0, end) &&
    end <= text.length &&
    typeof type === "string" &&
    isWithin(score, 0, 1) &&
    [rest.text, rest.label, rest.service, rest.view].every((value) => value == null || typeof value === "string")
  );
}

function isWithin(value: unknown, low: number, high: number): boolean {
  return typeof value === "number" && value >= low && value <= high;
}
