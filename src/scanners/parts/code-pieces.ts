import type { CallContext } from "../../models/call-context.ts";
import type { LinearClassifier } from "../../models/linear-classifier.ts";
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
import { reviewOptions, type Threshold, thresholdOption } from "./threshold.ts";

/** The label for text that is not code. */
const NONE = "none";
/** The linear model that finds pieces of code. */
const EMBEDDED = "embedded:code";
/** A model of programming languages reads a piece if its probability of being code is above this. */
const CODE_THRESHOLD = 0.5;

/**
 * Creates the options of scanners that look for code.
 *
 * @param threshold the default of the option `threshold`.
 * @param what what a classifier of the engine must tell apart.
 */
export function codeOptions(threshold: number, what: string) {
  return {
    model: classifierOption(EMBEDDED, `${what}. A linear model needs the label ${NONE}`),
    threshold: thresholdOption(threshold, "A text fails when the probability of a piece of it is above this."),
    ...reviewOptions,
    ...classifierOptions,
  };
}

/** A fenced block is scored when it has ended. Other lines are scored together with those around them, which show whether they are code. */
const CODE_STREAMING: Streaming = { reads: "sentences", overlap: 400, openFrom: unclosedBlock };

/** The probabilities of a piece of a text. */
export interface CodePiece {
  /** The probability that it is code. */
  code: number;
  /** The probability that it is code in one of the listed languages. */
  listed: number;
  /** The likeliest listed language. */
  listedLabel?: string | undefined;
  /** The likeliest language that is not listed. */
  otherLabel?: string | undefined;
}

/**
 * Finds the pieces of a text that may be code.
 *
 * @param listed the indices of the listed languages among the labels of the model.
 */
async function findPieces(
  text: string,
  model: LinearClassifier,
  listed: number[],
  { signal }: CallContext,
): Promise<(CodePiece & Span)[]> {
  const { labels } = model.describe();
  const loaded = await model.load();
  const pieces = await native(() => loaded.findCode(text, listed), { signal });
  const piece = (column: (index: number) => number) => ({
    ...{ start: column(0), end: column(1), code: column(2), listed: column(3) },
    ...{ listedLabel: labels[column(4)], otherLabel: labels[column(5)] },
  });
  return mapRowsInSlices(pieces, 6, piece, new TimeSlice(signal));
}

/** Returns the probability that a piece is not allowed, and the language that its finding names. */
type PieceScorer = (piece: CodePiece) => { score: number; label: string };

/**
 * Creates a scanner that looks for code. Fenced blocks, code spans and lines that look like code are scored one by one, so that code is
 * found within prose. The worst piece decides. A text without such pieces is scored as a whole.
 *
 * @param model the linear model of the scanner.
 * @param languages the listed languages. The default is all languages of the model.
 * @throws GuardValidationError for a language that the model does not know. The error lists the languages that it knows.
 */
export function codeScanner(
  build: Build<{ model: string; threshold: Threshold }>,
  model: LinearClassifier,
  scorePiece: PieceScorer,
  languages?: readonly string[],
): ScannerBody {
  const listed = labelIndices(model, languages);
  return pieceScanner(build, model, {
    finding: "code",
    streaming: CODE_STREAMING,
    windows: (pieces) => pieces.length,
    async score(text, context) {
      const pieces = await findPieces(text, model, listed, context);
      return pieces.map((piece) => ({ start: piece.start, end: piece.end, ...scorePiece(piece) }));
    },
  });
}

/**
 * Creates a scanner that names the language of each piece of code by a classifier of the engine. Such a classifier knows code only, so the
 * embedded linear model finds the pieces.
 *
 * @param languages the listed languages. The model must have them as labels.
 */
export function neuralCodeScanner(
  build: Build<{ model: string; threshold: Threshold; modelMaxLength?: number | undefined }>,
  scorePiece: PieceScorer,
  languages: readonly string[],
): ScannerBody {
  const finder = build.engine.linear(EMBEDDED);
  const all = labelIndices(finder);
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
    async score(text, context) {
      const pieces = (await findPieces(text, finder, all, context)).filter(({ code }) => code > CODE_THRESHOLD);
      const { labels, probabilities } = await model.classify(
        pieces.map(({ start, end }) => text.slice(start, end)),
        context,
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
        return { start, end, ...scorePiece({ code, listed: of.sum, listedLabel: of.best, otherLabel: others.best }) };
      });
    },
  });
}

/** Returns the indices of languages among the labels of a model. The default is all languages. */
function labelIndices(model: LinearClassifier, languages?: readonly string[]): number[] {
  const { labels, aliases } = model.describe();
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
