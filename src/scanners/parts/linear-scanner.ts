import { madeFrom } from "../../errors.ts";
import type { LinearClassifier } from "../../models/linear.ts";
import { type Finding, passed, type ScanContext, wholeText } from "../../scanner.ts";
import type { Span } from "../../text/span.ts";
import type { Build, ScannerBody } from "../define.ts";
import { riskScore } from "../score.ts";
import { resolveThreshold, type Threshold } from "./threshold.ts";

/** A piece of a text, as a linear model judges it. */
export interface JudgedPiece extends Span {
  /** The probability that a text with this piece should fail. */
  score: number;
  /** The label that a finding gives this piece. */
  label: string;
}

/** The settings in which scanners with a linear model differ. */
interface LinearScannerSettings {
  /** The type of its findings. */
  finding: string;
  /** Judges the pieces of a text that the scanner looks at. A text without such pieces passes. */
  judge(text: string, context: ScanContext): Promise<readonly JudgedPiece[]>;
  /** Returns the number of pieces in which a text was read, for the coverage. The default is 1. */
  windows?(pieces: readonly JudgedPiece[]): number;
}

/** Returns the linear model that the option `model` of a scanner names. */
export function linearModel({ options, engine }: Build<{ model: string }>): LinearClassifier {
  return madeFrom("model", () => engine.linear(options.model));
}

/**
 * Makes a scanner that judges pieces of a text by a linear model. The worst piece decides.
 *
 * @throws GuardValidationError for a rate of false positives that the model's curve does not reach.
 */
export function linearScanner(
  { options, type, schema }: Build<{ model: string; threshold: Threshold }>,
  model: LinearClassifier,
  { finding, judge, windows = () => 1 }: LinearScannerSettings,
): ScannerBody {
  const threshold = resolveThreshold({ type, schema, options }, model.folder);
  return {
    load: async () => {
      await model.load();
    },
    close: () => model.close(),
    async check(text, context) {
      const pieces = await judge(text, context);
      if (pieces.length === 0) return passed(text);
      const findings = pieces
        .filter(({ score }) => score > threshold)
        .map(
          ({ start, end, score, label }): Finding => ({
            ...{ start, end, type: finding, text: text.slice(start, end), score, label },
          }),
        );
      const worst = pieces.reduce((most, { score }) => Math.max(most, score), 0);
      return {
        isValid: findings.length === 0,
        score: riskScore(worst, threshold),
        probability: worst,
        findings,
        coverage: wholeText(text, windows(pieces)),
      };
    },
  };
}
