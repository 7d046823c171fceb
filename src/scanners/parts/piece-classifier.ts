import type { AnswerCache } from "../../models/call-context.ts";
import type { LinearClassifier } from "../../models/linear.ts";
import { ALL_WINDOWS, type TextModel } from "../../models/text-model.ts";
import type { ScanContext } from "../../scan/scanner.ts";
import { GuardValidationError, withPathPrefix } from "../../support/errors.ts";
import type { Build } from "../definition.ts";

/** The part of a scan that a classifier needs. */
type Asking = Pick<ScanContext, "signal" | "answers">;

/** The labels of a classifier, and the probabilities that it gives them for each text. */
export interface Classified {
  labels: readonly string[];
  probabilities: readonly (readonly number[])[];
}

/** A classifier of pieces of a text, such as URLs: a linear model, or one of the engine. */
export interface PieceClassifier {
  /** The folder of the model, if it has one on this machine. */
  readonly folder: string | undefined;
  load(signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
  classify(texts: readonly string[], asking: Asking): Promise<Classified>;
}

/** What a scanner needs of its classifier. */
interface Needs {
  /** The head of guard's own models that has the labels. Other models have one head. */
  head: string;
  /** The labels that the model must have. Upper and lower case are the same. */
  required: readonly string[];
  /** The path of the option that an error names when a label is missing. The default is `model`. */
  option?: (index: number) => string;
}

/**
 * Returns the classifier that the option `model` of a scanner names.
 *
 * @throws GuardValidationError when there is no such model, and when it is linear and lacks a label. What a model of the engine lacks
 *   is known when it is loaded.
 */
export function pieceClassifier(
  { options, engine }: Build<{ model: string; modelMaxLength?: number | undefined }>,
  needs: Needs,
): PieceClassifier {
  const { model, modelMaxLength: maxLength } = options;
  if (!withPathPrefix("model", () => engine.isLinear(model))) {
    return new NeuralPieces(
      withPathPrefix("model", () => engine.model(model, { maxLength })),
      needs,
    );
  }
  return new LinearPieces(
    withPathPrefix("model", () => engine.linear(model)),
    needs,
  );
}

class LinearPieces implements PieceClassifier {
  readonly #model: LinearClassifier;
  readonly #labels: readonly string[];

  constructor(model: LinearClassifier, needs: Needs) {
    this.#model = model;
    this.#labels = model.described().labels;
    check(this.#labels, needs);
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

  async classify(texts: readonly string[], { signal }: Asking): Promise<Classified> {
    return { labels: this.#labels, probabilities: await this.#model.classify(texts, { signal }) };
  }
}

class NeuralPieces implements PieceClassifier {
  readonly #model: TextModel;
  readonly #needs: Needs;

  constructor(model: TextModel, needs: Needs) {
    this.#model = model;
    this.#needs = needs;
  }

  get folder(): string | undefined {
    return this.#model.folder;
  }

  async load(signal?: AbortSignal): Promise<unknown> {
    await this.#model.load(signal);
    return this.#head(signal);
  }

  close(): Promise<void> {
    return this.#model.close();
  }

  async classify(texts: readonly string[], { signal, answers }: Asking): Promise<Classified> {
    const { labels, head } = await this.#head(signal);
    const of = (text: string) => this.#probabilities(text, head, signal, answers);
    return { labels, probabilities: await Promise.all(texts.map(of)) };
  }

  /** A piece that is longer than the model's input is read in windows, whose probabilities are averaged by their lengths. */
  async #probabilities(text: string, head: number, signal?: AbortSignal, answers?: AnswerCache): Promise<number[]> {
    const { parts } = await this.#model.classify(
      text,
      { strategy: "windows", maxWindows: ALL_WINDOWS },
      { signal, answers },
    );
    const total = parts.reduce((sum, { start, end }) => sum + end - start, 0);
    const sums: number[] = [];
    for (const { start, end, heads } of parts) {
      for (const [index, probability] of (heads[head] ?? []).entries()) {
        sums[index] = (sums[index] ?? 0) + (probability * (end - start)) / total;
      }
    }
    return sums;
  }

  async #head(signal?: AbortSignal): Promise<{ head: number; labels: readonly string[] }> {
    const { heads } = await this.#model.described({ signal });
    const head = Math.max(
      0,
      heads.findIndex(({ name }) => name === this.#needs.head),
    );
    const labels = heads[head]?.labels ?? [];
    check(labels, this.#needs);
    return { head, labels };
  }
}

function check(labels: readonly string[], { required, option = () => "model" }: Needs): void {
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
