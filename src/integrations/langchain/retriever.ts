import type { DocumentInterface } from "@langchain/core/documents";
import { BaseRetriever } from "@langchain/core/retrievers";
import { GuardBlockedError } from "../../guard/blocked-error.ts";
import type { Guard } from "../../guard/guard.ts";
import { ModelCall } from "../parts/model-call.ts";
import type { GuardedOptions } from "../parts/options.ts";
import { cloneWith } from "./clone.ts";

/** How the documents of a retriever are guarded. */
export interface GuardedRetrieverOptions extends GuardedOptions {
  /** Called with every document that is dropped, and the reason. */
  onDropped?: (document: DocumentInterface, error: GuardBlockedError) => void;
}

/** A retriever whose documents are checked. */
export class GuardedRetriever<
  Metadata extends Record<string, unknown> = Record<string, unknown>,
> extends BaseRetriever<Metadata> {
  static override lc_name(): string {
    return "GuardedRetriever";
  }

  override lc_namespace = ["guard-scan", "langchain"];
  override lc_serializable = false;
  readonly #inner: BaseRetriever<Metadata>;
  readonly #guard: Guard;
  readonly #options: GuardedRetrieverOptions;

  constructor(inner: BaseRetriever<Metadata>, guard: Guard, options: GuardedRetrieverOptions = {}) {
    const { callbacks, tags, metadata, verbose } = inner;
    super({
      ...(callbacks && { callbacks }),
      ...(tags && { tags }),
      ...(metadata && { metadata }),
      ...(verbose !== undefined && { verbose }),
    });
    this.#inner = inner;
    this.#guard = guard;
    this.#options = options;
  }

  override async _getRelevantDocuments(query: string): Promise<DocumentInterface<Metadata>[]> {
    // The callbacks of the inner retriever would receive unchecked documents.
    const documents = await this.#inner._getRelevantDocuments(query);
    if (documents.length === 0) return documents;
    try {
      return await this.#check(documents);
    } catch (error) {
      if (!(error instanceof GuardBlockedError)) throw error;
    }
    // A document is blocked. Each one is checked alone to find out which.
    const { onDropped } = this.#options;
    const kept: DocumentInterface<Metadata>[] = [];
    const call = this.#newCall();
    for (const document of documents) {
      try {
        kept.push(...(await this.#check([document], call)));
      } catch (error) {
        if (!(error instanceof GuardBlockedError)) throw error;
        onDropped?.(document, error);
      }
    }
    return kept;
  }

  #newCall(): ModelCall {
    return new ModelCall(this.#guard, this.#options, undefined);
  }

  async #check(
    documents: DocumentInterface<Metadata>[],
    call: ModelCall = this.#newCall(),
  ): Promise<DocumentInterface<Metadata>[]> {
    const texts = await call.texts(
      documents.map(({ pageContent }) => pageContent),
      "tool",
    );
    return documents.map((document, index) => {
      const pageContent = texts[index] as string;
      return pageContent === document.pageContent ? document : cloneWith(document, { pageContent });
    });
  }
}
