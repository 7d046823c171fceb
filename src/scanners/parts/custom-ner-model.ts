import type { AnswerCache } from "../../models/call-context.ts";
import type { ModelSpan } from "../../native.ts";
import { isRecord } from "../../support/is-record.ts";
import { checkedEntities, type RecognizedEntity } from "./recognizers.ts";

/** A NER model that is a program: one of the calling program or of a plugin. It can stand wherever the name of a NER model can. */
export interface CustomNerModel {
  /** The labels that its entities can have as their `type`: `PER` or `PERSON`, `ORG`, or names of its own. */
  readonly types: readonly string[];
  /** Loads what it needs. When nobody calls this, the first text has to do so. */
  load?(signal?: AbortSignal): unknown;
  /**
   * Finds entities in a text. When it throws or returns anything other than entities of its `types`, the scan fails.
   *
   * @param context its signal is aborted when nobody waits for the answer any more.
   */
  find(
    text: string,
    context: { signal?: AbortSignal },
  ): readonly RecognizedEntity[] | Promise<readonly RecognizedEntity[]>;
  /** Frees what it has loaded. */
  close?(): unknown;
}

/** What a {@link NerModel} asks of the model behind it. */
export interface SpanModel {
  /** The kinds of spans that it finds. They are undefined until a model of the hub is downloaded. */
  kinds(): readonly string[] | undefined;
  load(signal?: AbortSignal): unknown;
  findSpans(
    text: string,
    signal?: AbortSignal,
    answers?: AnswerCache,
  ): Promise<Pick<ModelSpan, "start" | "end" | "kind" | "score">[]>;
  close(): unknown;
}

/** Tells whether a value is a NER model that is a program. */
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

/** Makes a model of spans from a NER model that is a program. */
export function customSpanModel(model: CustomNerModel): SpanModel {
  const kinds = [...model.types];
  return {
    kinds: () => kinds,
    load: (signal) => model.load?.(signal),
    async findSpans(text, signal) {
      const found = await model.find(text, { ...(signal && { signal }) });
      signal?.throwIfAborted();
      return checkedEntities(text, found, "the NER model").map(({ type, ...rest }) => {
        // A type that nobody looks for would be dropped without a word.
        if (!kinds.includes(type)) throw new TypeError(`the NER model found ${type}, which is not one of its types`);
        return { ...rest, kind: type };
      });
    },
    close: () => model.close?.(),
  };
}
