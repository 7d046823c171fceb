import { z } from "zod";
import type { AnswerCache } from "../../models/call-context.ts";
import type { Engine } from "../../models/engine.ts";
import { type LanguageCurve, modelIdentity, readEvaluation, trainedLanguages } from "../../models/evaluation.ts";
import type { TextModel } from "../../models/text-model.ts";
import type { Finding, Verdict } from "../../scan/scanner.ts";
import { FAILED } from "../../scan/score.ts";
import { notASetting } from "../../support/options.ts";
import type { Span } from "../../text/span.ts";
import { type Calibration, calibrationTo } from "./calibration.ts";

/** What may happen to a text in a language that the model was not trained in; see {@link onUntrainedLanguageOption}. */
export const TREATMENTS = ["score", "pass", "fail", "raw"] as const;

/** What happens to a text in a language that the model was not trained in. */
export type UntrainedTreatment = (typeof TREATMENTS)[number];

/** The option that says what happens to texts in languages that the model was not trained in. */
export const onUntrainedLanguageOption = notASetting(
  z
    .enum(TREATMENTS)
    .default("score")
    .describe(
      "What happens to parts of a text in a language that the model was not trained in. score: where the model was measured in the " +
        "language and tells harmless texts from others, its probability is corrected, so that false positives are at " +
        "most as frequent as in English; other parts are left out, and the coverage says so. pass: such parts are always left out. " +
        "fail: a text with such a part fails. raw: the model's probability counts, whatever it means.",
    ),
);

/** A part of a text that was left out, because the model does not know its language. */
export interface UntrainedPart extends Span {
  language: string;
}

/** A part of a text with what the model says about it. */
interface Judged<Part extends Span> {
  parts: Part[];
  /** The number of UTF-16 code units that were not read. */
  skipped: number;
  untrained: UntrainedPart[];
}

/** The settings of {@link languageJudge}. */
interface LanguageJudgeSettings {
  /** The type of the scanner, for its curves. */
  type: string;
  engine: Engine;
  model: TextModel;
  /** The head of the model that answers. */
  head: string;
  treatment: UntrainedTreatment;
}

/** Judges each part of a text by what the model's probability means in its language. */
export interface LanguageJudge {
  /** Loads the detector of languages, if it will be asked. */
  load(): Promise<void>;
  /**
   * Scores the parts of a text.
   *
   * @param score scores a text in one language; its spans count from the beginning of that text.
   * @param corrected returns a part with all of its probabilities corrected.
   */
  judge<Part extends Span>(
    text: string,
    score: (text: string) => Promise<{ parts: Part[]; skipped: number }>,
    corrected: (part: Part, correct: Calibration) => Part,
    answers?: AnswerCache,
    signal?: AbortSignal,
  ): Promise<Judged<Part>>;
  /** Returns the parts of a text that are in languages which the model was not trained in, for scanners that compare two texts. */
  foreign(text: string, answers?: AnswerCache, signal?: AbortSignal): Promise<UntrainedPart[]>;
}

/** What a model knows about languages. */
interface Knowledge {
  /** The languages that it was trained in. */
  trained: readonly string[];
  /** Those of them in which its probabilities count as they are. */
  plain: readonly string[];
  /** How probabilities are corrected, by language. Languages without an entry cannot be judged. */
  calibrations: ReadonlyMap<string, Calibration>;
}

/**
 * Makes a judge from what the model's folder says about languages. A model that does not say which languages it was trained in is
 * asked about every text as a whole, and its probabilities count as they are.
 */
export function languageJudge({ type, engine, model, head, treatment }: LanguageJudgeSettings): LanguageJudge {
  let known: { knowledge: Knowledge | undefined } | undefined;
  const knowledge = () => {
    // The folder of a model of the hub is known when it is downloaded.
    if (!known && model.folder !== undefined) known = { knowledge: readKnowledge(model.folder, type, head) };
    return treatment === "raw" ? undefined : known?.knowledge;
  };
  return {
    async load() {
      if (knowledge()) await engine.languages.load();
    },
    async foreign(text, answers, signal) {
      const languages = knowledge();
      if (!languages) return [];
      const pieces = await engine.languages.foreignParts(text, { known: languages.trained }, { answers, signal });
      return pieces.flatMap(({ start, end, language }) => (language === undefined ? [] : [{ start, end, language }]));
    },
    async judge(text, score, corrected, answers, signal) {
      const languages = knowledge();
      if (!languages) return { untrained: [], ...(await score(text)) };
      const pieces = await engine.languages.foreignParts(
        text,
        { known: languages.plain, familiar: languages.trained },
        { answers, signal },
      );
      if (pieces.every(({ language }) => language === undefined)) return { untrained: [], ...(await score(text)) };
      const judged = pieces.map(async ({ start, end, language }) => {
        const correct = language === undefined ? undefined : languages.calibrations.get(language);
        const isTrained = language === undefined || languages.trained.includes(language);
        if (language !== undefined && (!correct || (treatment !== "score" && !isTrained))) {
          return { parts: [], skipped: 0, untrained: [{ start, end, language }] };
        }
        const { parts, skipped } = await score(text.slice(start, end));
        const moved = parts.map((part) => ({ ...part, start: part.start + start, end: part.end + start }));
        return { parts: correct ? moved.map((part) => corrected(part, correct)) : moved, skipped, untrained: [] };
      });
      const all = await Promise.all(judged);
      return {
        parts: all.flatMap(({ parts }) => parts),
        skipped: all.reduce((sum, { skipped }) => sum + skipped, 0),
        untrained: all.flatMap(({ untrained }) => untrained),
      };
    },
  };
}

/** Adds to a verdict what its scanner left out because of its language; with `fail`, the text fails for it. */
export function withUntrained(
  text: string,
  verdict: Verdict,
  untrained: readonly UntrainedPart[],
  treatment: UntrainedTreatment,
): Verdict {
  if (untrained.length === 0) return verdict;
  const languages = [...new Set(untrained.map(({ language }) => language))].sort();
  const { coverage } = verdict;
  const scannedChars = Math.max(0, coverage.scannedChars - lengthOf(untrained));
  const covered = { ...verdict, coverage: { ...coverage, scannedChars, untrainedLanguages: languages } };
  if (treatment !== "fail") return covered;
  const findings = untrained.map(
    ({ start, end, language }): Finding => ({
      ...{ start, end, type: "untrained_language", text: text.slice(start, end), score: 1, label: language },
    }),
  );
  return { ...covered, isValid: false, score: FAILED, findings: [...verdict.findings, ...findings] };
}

/** How many UTF-16 code units of a text spans cover. Those that come from views of the text may overlap with others. */
export function lengthOf(spans: readonly Span[]): number {
  let length = 0;
  let reached = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    length += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return length;
}

function readKnowledge(folder: string, scanner: string, head: string): Knowledge | undefined {
  const trained = trainedLanguages(folder, head);
  if (!trained) return undefined;
  const evaluation = readEvaluation(folder);
  // Curves of other weights say nothing about these.
  const isOfThese = evaluation?.model.version === modelIdentity(folder).version;
  const curvesOfScanner = isOfThese ? (evaluation?.languages ?? []).filter((curve) => curve.scanner === scanner) : [];
  const ofHead = curvesOfScanner.filter((curve) => curve.head === head);
  const curves = ofHead.length > 0 ? ofHead : curvesOfScanner.filter((curve) => curve.head === undefined);
  const calibrations = calibrationsOf(curves, trained);
  // Also in languages that a model was trained in, thresholds are to mean what they mean in English.
  const plain = trained.filter((language) => language === REFERENCE || !calibrations.has(language));
  return { trained, plain, calibrations };
}

/** The language whose rates of false positives thresholds refer to. */
const REFERENCE = "en";

/**
 * How many times as rare false positives are to be as in English, in languages that a model was not trained in. Their curves rest on
 * fewer kinds of texts than people write, and what a model says there is less certain.
 */
const RARER = 2;

function calibrationsOf(curves: readonly LanguageCurve[], trained: readonly string[]): Map<string, Calibration> {
  const reference = curves.find(({ language }) => language === REFERENCE);
  if (!reference) return new Map();
  return new Map(
    curves
      .filter(({ separates }) => separates)
      .map(({ language, points }): [string, Calibration] => [
        language,
        calibrationTo(reference.points, points, trained.includes(language) ? 1 : RARER),
      ]),
  );
}
