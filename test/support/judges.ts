import { fileURLToPath } from "node:url";

/** A small model with the outputs of the embedded multi-task one; `make.py` beside it says which words mean what. */
export const judges = fileURLToPath(new URL("../fixtures/judges", import.meta.url));
/** A classifier that chooses exactly one label, SAFE or INJECTION. The words from calm to attack decide which. */
export const twoHeads = fileURLToPath(new URL("../fixtures/two-heads", import.meta.url));
/** A model with heads as those of classifiers of languages, of gibberish, of code and of URLs. */
export const classifiers = fileURLToPath(new URL("../fixtures/classifiers", import.meta.url));
/** A text of thirty tokens, which is about one window of {@link judges}. */
export const filler = "the sky is blue and the grass is green . ".repeat(3);
/**
 * An embedding model that returns one vector per token, so that they must be pooled. A vector has a 1 for each of the words
 * rain, sun and football.
 */
export const embedder = fileURLToPath(new URL("../fixtures/embedder", import.meta.url));
