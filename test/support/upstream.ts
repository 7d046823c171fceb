import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { bodyText, listening } from "./listening.ts";

/** A request that a model's provider has received. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies have any shape.
  json: any;
}

/** What the provider answers: JSON, or pieces of a body that it sends one after the other. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  pieces?: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
}

/** A provider of models on the loopback interface that answers as a test says, and keeps what it was sent. */
export interface Upstream {
  readonly url: string;
  readonly received: Received[];
  /** The answers that are still to be given. The last one is repeated. */
  answers: Answer[];
  /** How many replies ended because the client went away. */
  readonly gone: number;
}

/** Starts a provider for the tests of a file. */
export function upstreamForTests(): Upstream {
  const state = { url: "", received: [] as Received[], answers: [] as Answer[], gone: 0 };
  const listener: RequestListener = async (request, reply) => {
    const text = await bodyText(request);
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
    ({ url: state.url, close } = await listening(listener));
  });
  beforeEach(() => {
    state.received = [];
    state.answers = [];
    state.gone = 0;
  });
  afterAll(() => close?.());
  return state;
}

/** The pieces of a stream of server-sent events, one for each event. Events that have a type are named after it. */
export function sse(events: readonly unknown[], done = "[DONE]"): string[] {
  const pieces = events.map((event) => {
    const type = (event as { type?: string }).type;
    return `${type ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
  });
  return done ? [...pieces, `data: ${done}\n\n`] : pieces;
}
