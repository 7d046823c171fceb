import type { LinearClassifier } from "../../models/linear.ts";
import { native } from "../../native.ts";
import type { Streaming } from "../../scan/scanner.ts";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import { mapRowsInSlices } from "../../text/rows.ts";
import type { Span } from "../../text/span.ts";
import type { Build, ScannerBody } from "../definition.ts";
import { classifierOption, classifierOptions } from "./model-options.ts";
import { unclosedBlock } from "./open-spans.ts";
import { pieceClassifier } from "./piece-classifier.ts";
import { pieceScanner } from "./piece-scanner.ts";
import { type Threshold, thresholdOption } from "./threshold.ts";

/** The label for text that is not code. */
const NONE = "none";
/** The linear model that finds pieces of code. */
const EMBEDDED = "embedded:code";
/** A piece is given to a model of programming languages if it is code with a higher probability than this. */
const CODE = 0.5;

/**
 * Makes the options of scanners that look for code.
 *
 * @param threshold the default of the threshold.
 * @param what what a classifier of the engine has to tell apart.
 */
export function codeOptions(threshold: number, what: string) {
  return {
    model: classifierOption(EMBEDDED, `${what}. A linear model needs the label ${NONE}`),
    threshold: thresholdOption(threshold, "A text fails when the probability of a piece of it is above this."),
    ...classifierOptions,
  };
}

/** A block of code is judged when it has ended. Prose is judged with the lines around it, which tell whether it is code. */
const CODE_STREAMING: Streaming = { reads: "sentences", overlap: 400, openFrom: unclosedBlock };

/** A piece of a text as the model judges it. */
export interface CodePiece {
  /** The probability that it is code. */
  code: number;
  /** The probability that it is code in one of the listed languages, and the most probable of these. */
  listed: number;
  listedLabel?: string | undefined;
  /** The most probable language that is not listed. */
  otherLabel?: string | undefined;
}

/** Finds the pieces of a text that may be code. `labels` are those of the model. */
async function piecesIn(
  text: string,
  model: LinearClassifier,
  listed: number[],
  labels: readonly string[],
  signal: AbortSignal | undefined,
): Promise<(CodePiece & Span)[]> {
  const loaded = await model.load();
  const pieces = await native(() => loaded.findCode(text, listed), { signal });
  const piece = (column: (index: number) => number) => ({
    ...{ start: column(0), end: column(1), code: column(2), listed: column(3) },
    ...{ listedLabel: labels[column(4)], otherLabel: labels[column(5)] },
  });
  return mapRowsInSlices(pieces, 6, piece, new TimeSlice(signal));
}

/**
 * Makes a scanner that looks for code. Fenced blocks, code spans and lines that look like code are found and judged one by one, so
 * that code counts wherever it stands in prose. The worst piece decides. A text without such pieces is judged as a whole.
 *
 * @param model the linear model of the scanner.
 * @param languages the listed languages; by default all languages of the model.
 * @param judge returns the probability that a piece is not allowed, and the language that a finding names.
 * @throws GuardValidationError for a language that the model does not know; the error lists the languages that it knows.
 */
export function codeScanner(
  build: Build<{ model: string; threshold: Threshold }>,
  model: LinearClassifier,
  judge: (piece: CodePiece) => { score: number; label: string },
  languages?: readonly string[],
): ScannerBody {
  const listed = labelIndices(model, languages);
  const { labels } = model.described();
  return pieceScanner(build, model, {
    finding: "code",
    streaming: CODE_STREAMING,
    windows: (pieces) => pieces.length,
    async judge(text, { signal }) {
      const pieces = await piecesIn(text, model, listed, labels, signal);
      return pieces.map((piece) => ({ start: piece.start, end: piece.end, ...judge(piece) }));
    },
  });
}

/**
 * Makes a scanner that names the language of each piece of code by a classifier of the engine, which knows nothing but code. The
 * embedded linear model finds the pieces.
 *
 * @param languages the listed languages; the model must have them as labels.
 */
export function neuralCodeScanner(
  build: Build<{ model: string; threshold: Threshold; modelMaxLength?: number | undefined }>,
  judge: (piece: CodePiece) => { score: number; label: string },
  languages: readonly string[],
): ScannerBody {
  const finder = build.engine.linear(EMBEDDED);
  const all = labelIndices(finder);
  const { labels: known } = finder.described();
  const model = pieceClassifier(build, { head: "code", required: languages, option: (index) => `languages.${index}` });
  const listed = new Set(languages.map((language) => language.toLowerCase()));
  const both = {
    folder: model.folder,
    load: (signal?: AbortSignal) => Promise.all([finder.load(), model.load(signal)]),
    close: async () => {
      await Promise.all([finder.close(), model.close()]);
    },
  };
  return pieceScanner(build, both, {
    finding: "code",
    streaming: CODE_STREAMING,
    windows: (pieces) => pieces.length,
    async judge(text, { signal, answers }) {
      const pieces = (await piecesIn(text, finder, all, known, signal)).filter(({ code }) => code > CODE);
      const { labels, probabilities } = await model.classify(
        pieces.map(({ start, end }) => text.slice(start, end)),
        { ...(signal ? { signal } : {}), ...(answers ? { answers } : {}) },
      );
      return pieces.map(({ start, end, code }, index) => {
        const scored = labels.map((label, at) => ({ label, score: (probabilities[index]?.[at] ?? 0) * code }));
        const [of, others] = [true, false].map((is) => {
          const chosen = scored.filter(({ label }) => listed.has(label.toLowerCase()) === is);
          return {
            sum: chosen.reduce((sum, { score }) => sum + score, 0),
            best: chosen.sort((a, b) => b.score - a.score)[0]?.label,
          };
        }) as [{ sum: number; best?: string }, { sum: number; best?: string }];
        return { start, end, ...judge({ code, listed: of.sum, listedLabel: of.best, otherLabel: others.best }) };
      });
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
