import type { CallContext } from "../../models/call-context.ts";
import type { ModelSpan } from "../../native.ts";
import { isRecord } from "../../support/is-record.ts";
import { checkedEntities, type RecognizedEntity } from "./recognizers.ts";

/** A NER model of the calling program or of a plugin. It is accepted wherever the name of a NER model is. */
export interface CustomNerModel {
  /** The possible types of its entities: `PER` or `PERSON`, `ORG`, or types of its own. */
  readonly types: readonly string[];
  /** Loads the model. If nobody calls this, the first text must load it. */
  load?(signal?: AbortSignal): unknown;
  /**
   * Finds entities in a text. When it throws or returns anything other than entities of its `types`, the scan fails.
   *
   * @param context its signal is aborted when nobody waits for the result any more.
   */
  find(
    text: string,
    context: { signal?: AbortSignal },
  ): readonly RecognizedEntity[] | Promise<readonly RecognizedEntity[]>;
  /** Frees the model. */
  close?(): unknown;
}

/** The model behind a `NerModel`. */
export interface SpanModel {
  /** Returns the kinds of spans that it finds, or undefined until a model of the hub is downloaded. */
  kinds(): readonly string[] | undefined;
  load(signal?: AbortSignal): unknown;
  findSpans(text: string, context?: CallContext): Promise<Pick<ModelSpan, "start" | "end" | "kind" | "score">[]>;
  close(): unknown;
}

/** Tells whether a value is a {@link CustomNerModel}. */
export function isCustomNerModel(value: unknown): value is CustomNerModel {
  if (!isRecord(value)) return false;
  const { types, find, load, close } = value as Partial<CustomNerModel>;
  return (
    typeof find === "function" &&
    Array.isArray(types) &&
    types.length > 0 &&
    types.every((type) => typeof type === "string") &&
    [load, close].every((method) => method === undefined || typeof method === "function")
  );
}

/** Adapts a {@link CustomNerModel}. */
export function customSpanModel(model: CustomNerModel): SpanModel {
  const kinds = [...model.types];
  return {
    kinds: () => kinds,
    load: (signal) => model.load?.(signal),
    async findSpans(text, { signal } = {}) {
      const found = await model.find(text, { ...(signal && { signal }) });
      signal?.throwIfAborted();
      return checkedEntities(text, found, "the NER model").map(({ type, ...rest }) => {
        // A type that nobody asked for would be dropped silently.
        if (!kinds.includes(type)) throw new TypeError(`the NER model found ${type}, which is not one of its types`);
        return { ...rest, kind: type };
      });
    },
    close: () => model.close?.(),
  };
}
