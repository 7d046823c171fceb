import { onTestFinished } from "vitest";
import { readBody, startHttpServer } from "../../test/support/http-server.ts";
import { sse } from "../../test/support/upstream.ts";

/** A reply of the fake upstream: a JSON body, or the chunks of a stream. */
export type Reply = Record<string, unknown> | { chunks: readonly Record<string, unknown>[] };

/** A loopback server with OpenAI's chat completions and embeddings, which records its requests. */
export interface Upstream {
  baseURL: string;
  /** The bodies of all requests. */
  bodies: Record<string, unknown>[];
}

/** Starts an upstream that stops with the test. @param reply makes the reply to each request. */
export async function upstream(reply: (body: Record<string, unknown>, count: number) => Reply): Promise<Upstream> {
  const bodies: Record<string, unknown>[] = [];
  const { url, close } = await startHttpServer(async (request, response) => {
    const body = JSON.parse(await readBody(request));
    bodies.push(body);
    const made = reply(body, bodies.length);
    const isStream = "chunks" in made;
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    if (!isStream) response.end(JSON.stringify(made));
    else response.end(sse(made.chunks as unknown[]).join(""));
  });
  onTestFinished(close);
  return { baseURL: `${url}/v1`, bodies };
}

const USAGE = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };

/** A tool call in a reply. */
export interface Call {
  id: string;
  name: string;
  arguments: string;
}

/** A chat completion with a text or tool calls. */
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

/** The same as a stream: the text in the given pieces, and each tool call in three. */
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
