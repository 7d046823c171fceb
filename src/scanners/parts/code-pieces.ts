import { GuardError, GuardValidationError } from "../../errors.ts";
import type { LinearClassifier } from "../../models/linear.ts";
import { native } from "../../native.ts";
import type { Build, ScannerBody } from "../define.ts";
import { linearModel, linearScanner } from "./linear-scanner.ts";
import { linearModelOption, linearOptions } from "./model-options.ts";
import { thresholdOption } from "./threshold.ts";

/** The label for text that is not code. */
const NONE = "none";

/**
 * Makes the options of scanners that look for code.
 *
 * @param threshold the default of the threshold.
 */
export function codeOptions(threshold: number) {
  return {
    model: linearModelOption("embedded:code", `a linear model with the label ${NONE}`),
    threshold: thresholdOption(threshold, "A text fails when the probability of a piece of it is above this."),
    ...linearOptions,
  };
}

/** A piece of a text as the model judges it. */
interface CodePiece {
  /** The probability that it is code. */
  code: number;
  /** The probability that it is code in one of the listed languages, and the most probable of these. */
  listed: number;
  listedLabel?: string | undefined;
  /** The most probable language that is not listed. */
  otherLabel?: string | undefined;
}

/**
 * Makes a scanner that looks for code. Fenced blocks, code spans and lines that look like code are found and judged one by one, so
 * that code counts wherever it stands in prose. The worst piece decides. A text without such pieces is judged as a whole.
 *
 * @param languages the listed languages; by default all languages of the model.
 * @param judge returns the probability that a piece is not allowed, and the language that a finding names.
 * @throws GuardValidationError for a language that the model does not know; the error lists the languages that it knows.
 */
export function codeScanner(
  build: Build<{ model: string; threshold: number | { fpr: number } }>,
  judge: (piece: CodePiece) => { score: number; label: string },
  languages?: readonly string[],
): ScannerBody {
  const model = linearModel(build);
  const listed = labelIndices(model, languages);
  return linearScanner(build, model, {
    finding: "code",
    windows: (pieces) => pieces.length,
    async judge(text) {
      const loaded = await model.load();
      const pieces = await native(() => loaded.findCode(text, listed));
      return pieces.map((piece) => ({ start: piece.start, end: piece.end, ...judge(piece) }));
    },
  });
}

/**
 * Returns the indices of languages among the labels of a model. When no languages are given, it returns the indices of all of them.
 */
function labelIndices(model: LinearClassifier, languages?: readonly string[]): number[] {
  const { labels, aliases } = model.described();
  const code = labels.filter((label) => label !== NONE);
  if (code.length === labels.length) {
    throw new GuardError("GUARD_MODEL", `the model ${model.folder} has no label ${NONE}`);
  }
  const byName = new Map([...Object.entries(aliases), ...code.map((label) => [label.toLowerCase(), label] as const)]);
  const issues = (languages ?? []).flatMap((language, index) =>
    byName.has(language.toLowerCase())
      ? []
      : [{ path: `languages.${index}`, message: `unknown language ${language}; known are: ${code.join(", ")}` }],
  );
  if (issues.length > 0) throw new GuardValidationError(issues);
  const names = languages?.map((language) => byName.get(language.toLowerCase()) as string) ?? code;
  return [...new Set(names.map((name) => labels.indexOf(name)))];
}
