import type { ErrorReply } from "../../proxy/errors.ts";
import type { Struct } from "../struct.ts";
import {
  type BodyMode,
  type BodyMutation,
  type HeaderMutation,
  headerMutation,
  type ProcessingMode,
  type ProcessingResponse,
} from "./messages.ts";

/** Sends a message to Envoy, and waits while Envoy reads slowly. */
export type Send = (reply: ProcessingResponse) => Promise<void>;

/** Bytes of a chunk. Envoy recommends at most 64 KiB in the mode FULL_DUPLEX_STREAMED. */
const CHUNK_BYTES = 65_536;

/** Answers the messages about one side of an exchange in the form that its body mode requires. */
export class Replies {
  readonly #send: Send;
  readonly #side: "request" | "response";
  /** Undefined for versions of Envoy that do not tell it. They know STREAMED and BUFFERED. */
  readonly mode: BodyMode | undefined;

  constructor(side: "request" | "response", mode: BodyMode | undefined, send: Send) {
    this.#side = side;
    this.mode = mode;
    this.#send = send;
  }

  /** Whether chunks are sent at any time. In other modes, each message has exactly one answer. */
  get isDuplex(): boolean {
    return this.mode === "FULL_DUPLEX_STREAMED";
  }

  headers(mutation?: HeaderMutation, more: { modeOverride?: ProcessingMode; dynamicMetadata?: Struct } = {}) {
    const response = mutation ? { headerMutation: mutation } : {};
    return this.#send({ [`${this.#side}Headers`]: { response }, ...more });
  }

  /** Answers a message with a part of the body, and replaces that part. */
  part(body: Uint8Array, headers?: HeaderMutation, dynamicMetadata?: Struct): Promise<void> {
    const bodyMutation: BodyMutation = body.length > 0 ? { body } : { clearBody: true };
    return this.#body({ ...(headers ? { headerMutation: headers } : {}), bodyMutation }, dynamicMetadata);
  }

  /** Sends the next part of a body in the mode FULL_DUPLEX_STREAMED. */
  async chunk(body: Uint8Array): Promise<void> {
    for (let start = 0; start < body.length; start += CHUNK_BYTES) {
      await this.#streamed(body.subarray(start, start + CHUNK_BYTES), false);
    }
  }

  /** Ends a body in the mode FULL_DUPLEX_STREAMED: with the trailers, if there are any. */
  end(hasTrailers: boolean, dynamicMetadata?: Struct): Promise<void> {
    return hasTrailers ? this.trailers(dynamicMetadata) : this.#streamed(new Uint8Array(), true, dynamicMetadata);
  }

  trailers(dynamicMetadata?: Struct): Promise<void> {
    return this.#send({ [`${this.#side}Trailers`]: {}, ...(dynamicMetadata ? { dynamicMetadata } : {}) });
  }

  /** Passes a part of a body on unchanged. */
  pass(body: Uint8Array, endOfStream: boolean): Promise<void> {
    return this.isDuplex ? this.#streamed(body, endOfStream) : this.#body({});
  }

  #streamed(body: Uint8Array, endOfStream: boolean, dynamicMetadata?: Struct): Promise<void> {
    return this.#body({ bodyMutation: { streamedResponse: { body, endOfStream } } }, dynamicMetadata);
  }

  #body(response: { headerMutation?: HeaderMutation; bodyMutation?: BodyMutation }, dynamicMetadata?: Struct) {
    return this.#send({ [`${this.#side}Body`]: { response }, ...(dynamicMetadata ? { dynamicMetadata } : {}) });
  }
}

/** Headers that only Envoy sets. */
const OF_CONNECTION = new Set(["connection", "content-length", "transfer-encoding"]);

/** Returns the message that ends a call with an answer of guard. */
export function immediateReply({ status, headers, body }: ErrorReply, dynamicMetadata?: Struct): ProcessingResponse {
  const shown = Object.entries(headers).filter(([name]) => !OF_CONNECTION.has(name));
  return {
    immediateResponse: {
      status: { code: status },
      headers: headerMutation({ ...Object.fromEntries(shown), "content-type": "application/json" }),
      body: Buffer.from(body),
      // Envoy replaces spaces in %RESPONSE_CODE_DETAILS%, which this is a part of.
      details: status === 400 || status === 403 ? "guard_blocked_or_invalid" : "guard_could_not_check",
    },
    ...(dynamicMetadata ? { dynamicMetadata } : {}),
  };
}
