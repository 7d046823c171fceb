import { deferred } from "../../support/promises.ts";

/** The body of a response whose chunks arrive as messages. It takes a chunk only when its reader wants one. */
export class PushedBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wanted = deferred();
  #isOver = false;

  constructor() {
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#wanted.resolve(),
        cancel: () => this.#end(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Waits until the reader wants a chunk: it has read all earlier ones, and handled them. */
  get wanted(): Promise<void> {
    return this.#wanted.promise;
  }

  /** Gives the next chunk to the reader when it wants one. After the end, chunks are dropped. */
  async push(chunk: Uint8Array): Promise<void> {
    if (chunk.length === 0) return;
    await this.wanted;
    if (this.#isOver) return;
    this.#wanted = deferred();
    this.#controller?.enqueue(chunk);
  }

  close(): void {
    if (this.#isOver) return;
    this.#end();
    this.#controller?.close();
  }

  /** Ends the body with an error. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#controller?.error(error);
  }

  #end(): void {
    this.#isOver = true;
    this.#wanted.resolve();
  }
}
