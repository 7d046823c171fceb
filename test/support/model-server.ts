import type { ServerResponse } from "node:http";
import { readBody, startHttpServer, type TestServer } from "./http-server.ts";

/** A request that the model server received. */
export interface ModelRequest {
  path: string;
  // biome-ignore lint/suspicious/noExplicitAny: the bodies of different APIs have different shapes
  body: any;
}

/** A local model server with canned answers, which speaks the APIs of OpenAI and Anthropic. */
export interface ModelServer extends TestServer {
  /** Returns the requests since the last call of this function. */
  sent(): ModelRequest[];
  /** The text of its answers. Streams send it in pieces of three characters. */
  says: string;
  /** The tool calls of its chat completions. */
  calls: { id: string; type: "function"; function: { name: string; arguments: string } }[];
}

/** Starts a model server, which the caller closes. */
export async function startModelServer(): Promise<ModelServer> {
  const sent: ModelRequest[] = [];
  const server = await startHttpServer(async (request, reply) => {
    const text = await readBody(request);
    const body = request.headers["content-type"]?.startsWith("application/json") ? JSON.parse(text) : text;
    sent.push({ path: request.url ?? "", body });
    answer(request.url ?? "", body, model, reply);
  });
  const model: ModelServer = { ...server, sent: () => sent.splice(0), says: "Hello.", calls: [] };
  return model;
}

function answer(path: string, body: unknown, { says, calls }: ModelServer, reply: ServerResponse): void {
  const asked = body as { stream?: boolean; model?: string; input?: unknown; n?: number };
  const model = asked.model ?? "fake";
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const json = (value: unknown) =>
    reply.setHeader("content-type", "application/json").end(`${JSON.stringify(value)}\n`);
  const tool_calls = calls.length > 0 ? { tool_calls: calls } : {};
  const indexes = Array.from({ length: asked.n ?? 1 }, (_, index) => index);
  const event = (value: { type?: string }) =>
    reply.write(`${value.type ? `event: ${value.type}\n` : ""}data: ${JSON.stringify(value)}\n\n`);
  if (asked.stream) reply.setHeader("content-type", "text/event-stream");
  if (path.includes("/chat/completions") && asked.stream) {
    const chunk = { id: "c1", object: "chat.completion.chunk", created: 1, model };
    const send = (delta: object, finish_reason: string | null = null) =>
      event({ ...chunk, choices: [{ index: 0, delta, finish_reason }] } as object);
    send({ role: "assistant", content: "" });
    for (const content of pieces(says)) send({ content });
    for (const [index, call] of calls.entries()) send({ tool_calls: [{ index, ...call }] });
    send({}, calls.length > 0 ? "tool_calls" : "stop");
    reply.end("data: [DONE]\n\n");
  } else if (path.includes("/chat/completions")) {
    const message = { role: "assistant", content: says, ...tool_calls };
    const choices = indexes.map((index) => ({ index, message, finish_reason: "stop" }));
    json({ id: "c1", object: "chat.completion", created: 1, model, choices, usage });
  } else if (path.includes("/completions") && asked.stream) {
    const chunk = { id: "c1", object: "text_completion", created: 1, model };
    const send = (text: string, finish_reason: string | null = null) =>
      event({ ...chunk, choices: [{ index: 0, text, finish_reason, logprobs: null }] } as object);
    for (const text of pieces(says)) send(text);
    send("", "stop");
    reply.end("data: [DONE]\n\n");
  } else if (path.includes("/messages") && asked.stream) {
    const message = { id: "m1", type: "message", role: "assistant", model, content: [], stop_reason: null };
    const usage = { input_tokens: 1, output_tokens: 1 };
    event({ type: "message_start", message: { ...message, usage } } as object);
    event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } as object);
    for (const text of pieces(says)) {
      event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } } as object);
    }
    event({ type: "content_block_stop", index: 0 } as object);
    event({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage } as object);
    event({ type: "message_stop" });
    reply.end();
  } else if (path.includes("/responses") && asked.stream) {
    const response = { id: "r1", object: "response", created_at: 1, model, output: [] as unknown[] };
    const at = { item_id: "o1", output_index: 0, content_index: 0 };
    const item = { id: "o1", type: "message", role: "assistant", status: "in_progress", content: [] as unknown[] };
    event({ type: "response.created", response: { ...response, status: "in_progress" } } as object);
    event({ type: "response.output_item.added", output_index: 0, item } as object);
    const part = { type: "output_text", text: "", annotations: [] };
    event({ type: "response.content_part.added", ...at, part } as object);
    for (const delta of pieces(says)) event({ type: "response.output_text.delta", ...at, delta } as object);
    event({ type: "response.output_text.done", ...at, text: says } as object);
    event({ type: "response.content_part.done", ...at, part: { ...part, text: says } } as object);
    const done = { ...item, status: "completed", content: [{ ...part, text: says }] };
    event({ type: "response.output_item.done", output_index: 0, item: done } as object);
    event({ type: "response.completed", response: { ...response, status: "completed", output: [done] } } as object);
    reply.end();
  } else if (path.includes("/completions")) {
    const choices = indexes.map((index) => ({ index, text: says, finish_reason: "stop", logprobs: null }));
    json({ id: "c1", object: "text_completion", created: 1, model, choices, usage });
  } else if (path.includes("/embeddings")) {
    const data = [asked.input].flat().map((_, index) => ({ object: "embedding", index, embedding: [0.5, 0.25] }));
    json({ object: "list", model, data, usage });
  } else if (path.includes("/messages")) {
    const content = [{ type: "text", text: says }];
    const stop = { stop_reason: "end_turn", stop_sequence: null };
    const counted = { input_tokens: 1, output_tokens: 1 };
    json({ id: "m1", type: "message", role: "assistant", model, content, ...stop, usage: counted });
  } else if (path.includes("/responses")) {
    const content = [{ type: "output_text", text: says, annotations: [] }];
    const output = [{ id: "o1", type: "message", role: "assistant", status: "completed", content }];
    const counted = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    json({ id: "r1", object: "response", created_at: 1, status: "completed", model, output, usage: counted });
  } else {
    reply.writeHead(404).end();
  }
}

function pieces(text: string): string[] {
  const characters = [...text];
  return characters.flatMap((_, at) => (at % 3 === 0 ? [characters.slice(at, at + 3).join("")] : []));
}
