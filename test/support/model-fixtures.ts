import { fileURLToPath } from "node:url";

/** A small model with the outputs of the embedded multi-task model. Its `make.py` lists the words that it reacts to. */
export const multitaskModel = fileURLToPath(new URL("../fixtures/judges", import.meta.url));
/** A model with the head for harmful content. Its `make.py` lists the words that it reacts to. */
export const harmModel = fileURLToPath(new URL("../fixtures/harm", import.meta.url));
/** A classifier that chooses one label, SAFE or INJECTION, by words from calm to attack. */
export const exclusiveClassifier = fileURLToPath(new URL("../fixtures/two-heads", import.meta.url));
/** A model with the heads of classifiers for languages, gibberish, code and URLs. */
export const classifierHeads = fileURLToPath(new URL("../fixtures/classifiers", import.meta.url));
/** A text of 30 tokens, about one window of {@link multitaskModel}. */
export const fillerText = "the sky is blue and the grass is green . ".repeat(3);
/**
 * An embedding model that returns one vector per token, so the vectors must be pooled. A vector has a 1 for each of the words rain, sun and
 * football.
 */
export const embeddingModel = fileURLToPath(new URL("../fixtures/embedder", import.meta.url));
