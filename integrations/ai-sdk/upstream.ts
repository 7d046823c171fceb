import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A reply of the fake upstream: a body of JSON, or the chunks of a stream. */
export type Reply = Record<string, unknown> | { chunks: readonly Record<string, unknown>[] };

/** A server on loopback that speaks OpenAI's chat completions and embeddings, and keeps what it was sent. */
export interface Upstream {
  baseURL: string;
  /** The bodies of all requests. */
  bodies: Record<string, unknown>[];
}

/** Starts an upstream that ends with the test. @param reply makes the reply to each request. */
export async function upstream(reply: (body: Record<string, unknown>, count: number) => Reply): Promise<Upstream> {
  const bodies: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(pieces).toString());
      bodies.push(body);
      const made = reply(body, bodies.length);
      if (!("chunks" in made)) {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(made));
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const chunk of made.chunks as unknown[]) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies };
}

const USAGE = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };

/** A call of a tool in a reply. */
export interface Call {
  id: string;
  name: string;
  arguments: string;
}

/** A chat completion with a text or with calls of tools. */
export function completion(content: string | null, calls: readonly Call[] = []): Reply {
  const message = {
    role: "assistant",
    content,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, ...call }) => ({ id, type: "function", function: call })),
    }),
  };
  const finish = calls.length > 0 ? "tool_calls" : "stop";
  return { id: "c1", model: "fake", choices: [{ index: 0, message, finish_reason: finish }], usage: USAGE };
}

/** The same as a stream: the text in the given pieces, and each call in three. */
export function streamed(pieces: readonly string[], calls: readonly Call[] = []): Reply {
  const chunk = (delta: Record<string, unknown>, finish: string | null = null) => ({
    id: "c1",
    model: "fake",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const callChunks = calls.flatMap(({ id, name, arguments: json }, index) => {
    const middle = Math.floor(json.length / 2);
    return [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: json.slice(0, middle) } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: json.slice(middle) } }] }),
    ];
  });
  return {
    chunks: [
      chunk({ role: "assistant" }),
      ...pieces.map((content) => chunk({ content })),
      ...callChunks,
      { ...chunk({}, calls.length > 0 ? "tool_calls" : "stop"), usage: USAGE },
    ],
  };
}
