import { LinearClassifier } from "./linear.ts";
import { Classifier } from "./model.ts";

/** Loads models for scanners. Made once, and passed to whoever loads models. */
export class Engine {
  /**
   * A model of ONNX Runtime. Its files are looked for now and loaded later.
   *
   * @param name `embedded:<name>`, a folder, an ONNX file, or a model of the hub.
   * @param maxLength the longest input in tokens, where it is to be shorter than what the model can read.
   * @throws GuardValidationError, without a path, when there is no such model.
   */
  model(name: string, { maxLength }: { maxLength?: number | undefined } = {}): Classifier {
    return new Classifier(name, maxLength);
  }

  /**
   * A linear model. Its files are looked for now and loaded later.
   *
   * @param name `embedded:<name>` or a folder.
   * @throws GuardValidationError, without a path, when there is no such model.
   */
  linear(name: string): LinearClassifier {
    return new LinearClassifier(name);
  }
}

let shared: Engine | undefined;

/** The engine of scanners that are given none: made when the first of them is built. */
export function defaultEngine(): Engine {
  shared ??= new Engine();
  return shared;
}
