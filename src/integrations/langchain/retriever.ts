import type { DocumentInterface } from "@langchain/core/documents";
import { BaseRetriever } from "@langchain/core/retrievers";
import { GuardBlockedError } from "../../guard/blocked-error.ts";
import type { Guard } from "../../guard/guard.ts";
import { Judge } from "../parts/judge.ts";
import type { GuardedOptions } from "../parts/options.ts";
import { cloneWith } from "./clone.ts";

/** How the documents of a retriever are guarded. */
export interface GuardedRetrieverOptions extends GuardedOptions {
  /** Is told of every document that is left out, and why. */
  onDropped?: (document: DocumentInterface, error: GuardBlockedError) => void;
}

/** A retriever whose documents are judged before anybody reads them. */
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
    // Callbacks are not handed on: they would be told of documents that nobody has judged.
    const documents = await this.#inner._getRelevantDocuments(query);
    if (documents.length === 0) return documents;
    try {
      return await this.#judged(documents);
    } catch (error) {
      if (!(error instanceof GuardBlockedError)) throw error;
    }
    // All of them together say that one is at fault, but not which.
    const { onDropped } = this.#options;
    const kept: DocumentInterface<Metadata>[] = [];
    const judge = this.#judge();
    for (const document of documents) {
      try {
        kept.push(...(await this.#judged([document], judge)));
      } catch (error) {
        if (!(error instanceof GuardBlockedError)) throw error;
        onDropped?.(document, error);
      }
    }
    return kept;
  }

  #judge(): Judge {
    return new Judge(this.#guard, this.#options, undefined);
  }

  async #judged(
    documents: DocumentInterface<Metadata>[],
    judge: Judge = this.#judge(),
  ): Promise<DocumentInterface<Metadata>[]> {
    const texts = await judge.texts(
      documents.map(({ pageContent }) => pageContent),
      "tool",
    );
    return documents.map((document, index) => {
      const pageContent = texts[index] as string;
      return pageContent === document.pageContent ? document : cloneWith(document, { pageContent });
    });
  }
}
