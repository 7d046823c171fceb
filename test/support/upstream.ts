import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { readBody, startHttpServer } from "./http-server.ts";

/** A request that the model provider received. */
export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed body, if it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies have no common shape.
  json: any;
}

/** A reply of the provider: JSON, or the pieces of a streamed body. */
export interface ProviderReply {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  pieces?: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
}

/** A local model provider with canned replies, which records its requests. */
export interface Upstream {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** The queue of replies. The last one is repeated. */
  answers: ProviderReply[];
  /** The number of replies that ended because the client disconnected. */
  readonly gone: number;
}

/** Starts a provider for all tests of a file, and resets it before each test. */
export function upstreamForTests(): Upstream {
  const state = { url: "", received: [] as ReceivedRequest[], answers: [] as ProviderReply[], gone: 0 };
  const listener: RequestListener = async (request, reply) => {
    const text = await readBody(request);
    const isJson = request.headers["content-type"]?.includes("json");
    const { method = "", url = "", headers } = request;
    state.received.push({ method, url, headers, text, json: isJson ? JSON.parse(text) : undefined });
    const [answer = {}] = state.answers.length > 1 ? state.answers.splice(0, 1) : state.answers;
    const type = answer.pieces ? "text/event-stream" : "application/json";
    reply.writeHead(answer.status ?? 200, { "content-type": type, ...answer.headers });
    reply.on("close", () => {
      if (!reply.writableFinished) state.gone += 1;
    });
    if (!answer.pieces) {
      reply.end(JSON.stringify(answer.json ?? {}));
      return;
    }
    for await (const piece of answer.pieces) {
      if (reply.destroyed) return;
      if (!reply.write(piece)) {
        await new Promise<void>((resolve) => {
          const goOn = () => {
            reply.off("drain", goOn).off("close", goOn);
            resolve();
          };
          reply.on("drain", goOn).on("close", goOn);
        });
      }
    }
    reply.end();
  };
  let close: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    ({ url: state.url, close } = await startHttpServer(listener));
  });
  beforeEach(() => {
    state.received = [];
    state.answers = [];
    state.gone = 0;
  });
  afterAll(() => close?.());
  return state;
}

/** Encodes events as server-sent events, one piece each. The type of an event becomes its name. */
export function sse(events: readonly unknown[], done = "[DONE]"): string[] {
  const pieces = events.map((event) => {
    const type = (event as { type?: string }).type;
    return `${type ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
  });
  return done ? [...pieces, `data: ${done}\n\n`] : pieces;
}
