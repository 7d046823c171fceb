import { fileURLToPath } from "node:url";

/** A small model with the outputs of the embedded multi-task one; `make.py` beside it says which words mean what. */
export const judges = fileURLToPath(new URL("../fixtures/judges", import.meta.url));
/** A classifier with one right label, SAFE or INJECTION: by the words from calm to attack. */
export const twoHeads = fileURLToPath(new URL("../fixtures/two-heads", import.meta.url));
/** Thirty tokens: about one window of {@link judges}. */
export const filler = "the sky is blue and the grass is green . ".repeat(3);
/** An embedding model whose vectors of tokens are to be pooled, with a 1 for each word of rain, sun and football. */
export const embedder = fileURLToPath(new URL("../fixtures/embedder", import.meta.url));
