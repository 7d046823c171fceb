import type { LinearClassifier } from "../../models/linear-classifier.ts";
import { MAX_FINDINGS } from "../../scan/findings.ts";
import { type Finding, passed, type ScanContext, type Streaming, wholeText } from "../../scan/scanner.ts";
import { riskScore } from "../../scan/score.ts";
import { withPathPrefix } from "../../support/errors.ts";
import type { Span } from "../../text/span.ts";
import type { Build, ScannerBody } from "../definition.ts";
import type { PieceClassifier } from "./piece-classifier.ts";
import { resolveReview, resolveThreshold, type Threshold } from "./threshold.ts";
import { type UntrainedTreatment, withUntrained } from "./untrained-languages.ts";

/** A piece of a text with its score. */
export interface ScoredPiece extends Span {
  /** The probability that a text with this piece should fail. */
  score: number;
  /** The label of the finding. */
  label: string;
  /** The language of a piece that the model cannot judge because of it. */
  untrainedLanguage?: string | undefined;
}

/** The settings in which these scanners differ. */
interface PieceScannerSettings {
  /** The type of the findings. */
  finding: string;
  /** How the scanner reads a streamed answer; see {@link ScannerBody.streaming}. */
  streaming?: Streaming | undefined;
  /** Scores the pieces of a text that the scanner checks. A text without such pieces passes. */
  score(text: string, context: ScanContext): Promise<readonly ScoredPiece[]>;
  /** Returns the number of windows for the coverage. The default is 1. */
  windows?(pieces: readonly ScoredPiece[]): number;
  /** What happens to pieces in languages that the model cannot judge. The default is `pass`. */
  onUntrainedLanguage?: UntrainedTreatment;
}

/** Returns the linear model that the option `model` names, or undefined if the option names a model of the engine. */
export function linearModel({ options, engine }: Build<{ model: string }>): LinearClassifier | undefined {
  return withPathPrefix("model", () => (engine.isLinear(options.model) ? engine.linear(options.model) : undefined));
}

/**
 * Creates a scanner that scores pieces of a text by a model. The worst piece decides.
 *
 * @throws GuardValidationError for a false positive rate that the model's curve does not reach.
 */
export function pieceScanner(
  { options, type, schema }: Build<{ model: string; threshold: Threshold }>,
  model: Pick<PieceClassifier, "folder" | "load" | "close">,
  { finding, score, streaming, windows = () => 1, onUntrainedLanguage = "pass" }: PieceScannerSettings,
): ScannerBody {
  const threshold = resolveThreshold({ type, schema, options }, model.folder);
  return {
    ...resolveReview({ type, schema, options }, model.folder, threshold),
    ...(streaming ? { streaming } : {}),
    load: async (signal) => {
      await model.load(signal);
    },
    close: () => model.close(),
    async check(text, context) {
      const pieces = await score(text, context);
      if (pieces.length === 0) return passed(text, wholeText(text, windows(pieces)));
      const failing = pieces.filter(({ score }) => score > threshold);
      const findings = failing.slice(0, MAX_FINDINGS).map(
        ({ start, end, score, label }): Finding => ({
          ...{ start, end, type: finding, text: text.slice(start, end), score, label },
        }),
      );
      const worst = pieces.reduce((most, { score }) => Math.max(most, score), 0);
      const verdict = {
        isValid: findings.length === 0,
        score: riskScore(worst, threshold),
        probability: worst,
        findings,
        coverage: wholeText(text, windows(pieces), failing.length - findings.length),
      };
      const untrained = pieces.flatMap(({ start, end, untrainedLanguage: language }) =>
        language === undefined ? [] : [{ start, end, language }],
      );
      return withUntrained(text, verdict, untrained, onUntrainedLanguage);
    },
  };
}
