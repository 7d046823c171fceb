import { z } from "zod";
import type { CallContext } from "../../models/call-context.ts";
import type { Engine } from "../../models/engine.ts";
import {
  type LanguageCurve,
  readEvaluation,
  readModelIdentity,
  readTrainedLanguages,
} from "../../models/evaluation.ts";
import type { TextModel } from "../../models/text-model.ts";
import type { Finding, Verdict } from "../../scan/scanner.ts";
import { FAILED } from "../../scan/score.ts";
import { withoutInfluence } from "../../support/options.ts";
import type { Span } from "../../text/span.ts";
import { type Calibration, calibrationTo } from "./calibration.ts";

/** The values of {@link onUntrainedLanguageOption}. */
export const TREATMENTS = ["score", "pass", "fail", "raw"] as const;

/** What happens to a text in a language that the model was not trained in. */
export type UntrainedTreatment = (typeof TREATMENTS)[number];

/** The option that says what happens to texts in languages that the model was not trained in. */
export const onUntrainedLanguageOption = withoutInfluence(
  z
    .enum(TREATMENTS)
    .default("score")
    .describe(
      "What happens to parts of a text in a language that the model was not trained in. score: if the model was measured in the " +
        "language and can tell harmful texts from harmless ones, its probability is corrected, so that false positives are at most as " +
        "frequent as in English; other parts are skipped, and the coverage says so. pass: such parts are always skipped. fail: a text " +
        "with such a part fails. raw: the model's probability counts uncorrected.",
    ),
);

/** A part of a text that was skipped, because the model does not know its language. */
export interface UntrainedPart extends Span {
  language: string;
}

/** The parts of a text that a model scored, and those that it cannot score. */
interface LanguageScores<Part extends Span> {
  parts: Part[];
  /** How many UTF-16 code units were not read. */
  skipped: number;
  untrained: UntrainedPart[];
}

interface LanguageScorerSettings {
  /** The type of the scanner, for its curves. */
  type: string;
  engine: Engine;
  model: TextModel;
  /** The head of the model whose probabilities are corrected. */
  head: string;
  treatment: UntrainedTreatment;
}

/** Scores each part of a text by what the model's probability means in its language. */
export interface LanguageScorer {
  /** Loads the language detector, if it is needed. */
  load(): Promise<void>;
  /**
   * Scores the parts of a text.
   *
   * @param scoreParts scores a text in one language. Its spans count from the beginning of that text.
   * @param corrected returns a part with all of its probabilities corrected.
   */
  score<Part extends Span>(
    text: string,
    scoreParts: (text: string) => Promise<{ parts: Part[]; skipped: number }>,
    corrected: (part: Part, correct: Calibration) => Part,
    context?: CallContext,
  ): Promise<LanguageScores<Part>>;
  /** Returns the parts of a text in languages that the model was not trained in, for scanners that compare two texts. */
  untrainedParts(text: string, context?: CallContext): Promise<UntrainedPart[]>;
}

/** What a model's folder says about languages. */
interface LanguageFacts {
  /** The languages that the model was trained in. */
  trained: readonly string[];
  /** The trained languages whose probabilities count as they are. */
  plain: readonly string[];
  /** How probabilities are corrected, by language. A language without an entry cannot be scored. */
  calibrations: ReadonlyMap<string, Calibration>;
}

/**
 * Creates a scorer from what the model's folder says about languages. A model that does not say in which languages it was trained reads
 * every text as a whole, and its probabilities count as they are.
 */
export function languageScorer({ type, engine, model, head, treatment }: LanguageScorerSettings): LanguageScorer {
  let known: { facts: LanguageFacts | undefined } | undefined;
  const factsIfHere = () => {
    // A model of the hub has a folder as soon as it is downloaded.
    if (!known && model.folder !== undefined) known = { facts: readLanguageFacts(model.folder, type, head) };
    return treatment === "raw" ? undefined : known?.facts;
  };
  return {
    async load() {
      if (factsIfHere()) await engine.languages.load();
    },
    async untrainedParts(text, context) {
      const languages = factsIfHere();
      if (!languages) return [];
      const pieces = await engine.languages.foreignParts(text, { known: languages.trained }, context);
      return pieces.flatMap(({ start, end, language }) => (language === undefined ? [] : [{ start, end, language }]));
    },
    async score(text, scoreParts, corrected, context) {
      const languages = factsIfHere();
      if (!languages) return { untrained: [], ...(await scoreParts(text)) };
      const pieces = await engine.languages.foreignParts(
        text,
        { known: languages.plain, familiar: languages.trained },
        context,
      );
      if (pieces.every(({ language }) => language === undefined)) return { untrained: [], ...(await scoreParts(text)) };
      const scored = pieces.map(async ({ start, end, language }) => {
        const correct = language === undefined ? undefined : languages.calibrations.get(language);
        const isTrained = language === undefined || languages.trained.includes(language);
        if (language !== undefined && (!correct || (treatment !== "score" && !isTrained))) {
          return { parts: [], skipped: 0, untrained: [{ start, end, language }] };
        }
        const { parts, skipped } = await scoreParts(text.slice(start, end));
        const moved = parts.map((part) => ({ ...part, start: part.start + start, end: part.end + start }));
        return { parts: correct ? moved.map((part) => corrected(part, correct)) : moved, skipped, untrained: [] };
      });
      const all = await Promise.all(scored);
      return {
        parts: all.flatMap(({ parts }) => parts),
        skipped: all.reduce((sum, { skipped }) => sum + skipped, 0),
        untrained: all.flatMap(({ untrained }) => untrained),
      };
    },
  };
}

/** Adds the parts that were skipped because of their language to the coverage of a verdict. With `fail`, each part is a finding too. */
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

/** Returns how many UTF-16 code units spans cover. Spans of views may overlap with others. */
export function lengthOf(spans: readonly Span[]): number {
  let length = 0;
  let reached = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    length += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return length;
}

function readLanguageFacts(folder: string, scanner: string, head: string): LanguageFacts | undefined {
  const trained = readTrainedLanguages(folder, head);
  if (!trained) return undefined;
  const evaluation = readEvaluation(folder);
  // Curves of another version of the model do not apply.
  const isSameVersion = evaluation?.model.version === readModelIdentity(folder).version;
  const curvesOfScanner = isSameVersion
    ? (evaluation?.languages ?? []).filter((curve) => curve.scanner === scanner)
    : [];
  const ofHead = curvesOfScanner.filter((curve) => curve.head === head);
  const curves = ofHead.length > 0 ? ofHead : curvesOfScanner.filter((curve) => curve.head === undefined);
  const calibrations = calibrationsOf(curves, trained);
  // A threshold should mean the same as in English, in trained languages too.
  const plain = trained.filter((language) => language === REFERENCE || !calibrations.has(language));
  return { trained, plain, calibrations };
}

/** Thresholds refer to the false positive rates of this language. */
const REFERENCE = "en";

/**
 * By which factor false positives should be rarer than in English, in languages that a model was not trained in. The curves of these
 * languages rest on fewer kinds of texts than people write, so they are less certain.
 */
const UNTRAINED_RARITY = 2;

function calibrationsOf(curves: readonly LanguageCurve[], trained: readonly string[]): Map<string, Calibration> {
  const reference = curves.find(({ language }) => language === REFERENCE);
  if (!reference) return new Map();
  return new Map(
    curves
      .filter(({ separates }) => separates)
      .map(({ language, points }): [string, Calibration] => [
        language,
        calibrationTo(reference.points, points, trained.includes(language) ? 1 : UNTRAINED_RARITY),
      ]),
  );
}
