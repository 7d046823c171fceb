import type { CallContext } from "../../models/call-context.ts";
import type { LinearClassifier } from "../../models/linear-classifier.ts";
import { ALL_WINDOWS, type TextModel } from "../../models/text-model.ts";
import { GuardValidationError, withPathPrefix } from "../../support/errors.ts";
import type { Build } from "../definition.ts";

/** The labels of a classifier, and their probabilities for each text. */
export interface Classifications {
  labels: readonly string[];
  probabilities: readonly (readonly number[])[];
}

/** A classifier of pieces of a text, such as URLs: a linear model, or a model of the engine. */
export interface PieceClassifier {
  /** The folder of the model, if there is one on this machine. */
  readonly folder: string | undefined;
  load(signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
  classify(texts: readonly string[], context: CallContext): Promise<Classifications>;
}

/** The labels that a scanner requires of its model. */
interface LabelRequirements {
  /** The head of guard's own models that has the labels. Other models have one head. */
  head: string;
  /** The labels that the model must have, in upper or lower case. */
  required: readonly string[];
  /** The path of the option in the error about a missing label. The default is `model`. */
  option?: (index: number) => string;
}

/**
 * Returns the classifier that the option `model` of a scanner names.
 *
 * @throws GuardValidationError for a model that does not exist, and for a linear model without a required label. The labels of a model of
 *   the engine are checked when it is loaded.
 */
export function pieceClassifier(
  { options, engine }: Build<{ model: string; modelMaxLength?: number | undefined }>,
  requirements: LabelRequirements,
): PieceClassifier {
  const { model, modelMaxLength: maxLength } = options;
  if (!withPathPrefix("model", () => engine.isLinear(model))) {
    return new NeuralPieceClassifier(
      withPathPrefix("model", () => engine.model(model, { maxLength })),
      requirements,
    );
  }
  return new LinearPieceClassifier(
    withPathPrefix("model", () => engine.linear(model)),
    requirements,
  );
}

class LinearPieceClassifier implements PieceClassifier {
  readonly #model: LinearClassifier;
  readonly #labels: readonly string[];

  constructor(model: LinearClassifier, requirements: LabelRequirements) {
    this.#model = model;
    this.#labels = model.describe().labels;
    checkLabels(this.#labels, requirements);
  }

  get folder(): string {
    return this.#model.folder;
  }

  load(): Promise<unknown> {
    return this.#model.load();
  }

  close(): Promise<void> {
    return this.#model.close();
  }

  async classify(texts: readonly string[], { signal }: CallContext): Promise<Classifications> {
    return { labels: this.#labels, probabilities: await this.#model.classify(texts, { signal }) };
  }
}

class NeuralPieceClassifier implements PieceClassifier {
  readonly #model: TextModel;
  readonly #requirements: LabelRequirements;

  constructor(model: TextModel, requirements: LabelRequirements) {
    this.#model = model;
    this.#requirements = requirements;
  }

  get folder(): string | undefined {
    return this.#model.folder;
  }

  async load(signal?: AbortSignal): Promise<unknown> {
    await this.#model.load(signal);
    return this.#locateHead({ signal });
  }

  close(): Promise<void> {
    return this.#model.close();
  }

  async classify(texts: readonly string[], context: CallContext): Promise<Classifications> {
    const { labels, head } = await this.#locateHead(context);
    return { labels, probabilities: await Promise.all(texts.map((text) => this.#probabilities(text, head, context))) };
  }

  /** A piece that is longer than the model's input is read in windows. Their probabilities are averaged, weighted by length. */
  async #probabilities(text: string, head: number, context: CallContext): Promise<number[]> {
    const { parts } = await this.#model.classify(text, { strategy: "windows", maxWindows: ALL_WINDOWS }, context);
    const total = parts.reduce((sum, { start, end }) => sum + end - start, 0);
    const sums: number[] = [];
    for (const { start, end, heads } of parts) {
      for (const [index, probability] of (heads[head] ?? []).entries()) {
        sums[index] = (sums[index] ?? 0) + (probability * (end - start)) / total;
      }
    }
    return sums;
  }

  async #locateHead(context: CallContext): Promise<{ head: number; labels: readonly string[] }> {
    const { heads } = await this.#model.describe(context);
    const head = Math.max(
      0,
      heads.findIndex(({ name }) => name === this.#requirements.head),
    );
    const labels = heads[head]?.labels ?? [];
    checkLabels(labels, this.#requirements);
    return { head, labels };
  }
}

function checkLabels(labels: readonly string[], { required, option = () => "model" }: LabelRequirements): void {
  const known = new Set(labels.map((label) => label.toLowerCase()));
  const issues = required.flatMap((label, index) =>
    known.has(label.toLowerCase())
      ? []
      : [
          {
            path: option(index),
            message: `the model has no label ${label}; its labels are: ${labels.join(", ")}`,
          },
        ],
  );
  if (issues.length > 0) throw new GuardValidationError(issues);
}
