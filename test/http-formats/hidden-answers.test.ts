import { describe, expect, it } from "vitest";
import { guardedFetch } from "../../src/http-formats/guarded-fetch.ts";
import { exampleGuard } from "../support/example-guard.ts";
import { sse } from "../support/upstream.ts";

const LEAK = "This was leaked and is forbidden.";

/** Sends a request whose answer is JSON or, as a list, a stream. @returns the answer, or the code of the error. */
async function answerOf(path: string, answer: unknown, request: object = {}) {
  const isStream = Array.isArray(answer) || typeof answer === "string";
  const reply = () => {
    if (!isStream) return Response.json(answer);
    const text = typeof answer === "string" ? answer : sse(answer as object[], "").join("");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  };
  const call = guardedFetch(await exampleGuard(), { fetch: (async () => reply()) as typeof fetch });
  const body = { messages: [{ role: "user", content: "Hi" }], input: "Hi", prompt: "Hi", contents: [], ...request };
  const response = await call(`https://api.example/v1${path}`, {
    method: "POST",
    body: JSON.stringify({ ...body, ...(isStream && { stream: true }) }),
  });
  return response.text().then(
    (text) => text,
    (error) => error.code as string,
  );
}

const item = (item: object) => ({ id: "resp_1", output: [item] });
const block = (block: object) => ({ type: "message", role: "assistant", content: [block] });
const message = (message: object) => ({
  choices: [{ index: 0, message: { role: "assistant", content: "Hi", ...message } }],
});

const GEMINI = "/models/gemini:generateContent";
const GEMINI_STREAM = "/models/gemini:streamGenerateContent?alt=sse";
const part = (part: object, more: object = {}) => ({
  candidates: [{ index: 0, content: { role: "model", parts: [part] }, ...more }],
});

/** Answers with a text in a place where clients may read it. */
const ANSWERS: [string, (text: unknown) => object][] = [
  ["/responses", (text) => item({ type: "mcp_call", name: "f", arguments: "{}", output: text })],
  ["/responses", (text) => item({ type: "mcp_call", name: "f", arguments: "{}", error: { message: text } })],
  ["/responses", (text) => item({ type: "code_interpreter_call", code: "1", outputs: [{ type: "logs", logs: text }] })],
  ["/responses", (text) => item({ type: "file_search_call", queries: ["a"], results: [{ text, filename: "a.md" }] })],
  ["/responses", (text) => item({ type: "web_search_call", action: { type: "search" }, results: [{ title: text }] })],
  ["/responses", (text) => item({ type: "mcp_list_tools", tools: [{ name: "f", description: text }] })],
  ["/responses", (text) => item({ type: "shell_call_output", output: [{ stdout: text }] })],
  ["/responses", (text) => item({ type: "function_call_output", output: text })],
  ["/responses", (text) => item({ type: "function_call", name: "f", arguments: "{}", note: text })],
  ["/responses", (text) => item({ type: "image_generation_call", result: "AAAA", revised_prompt: text })],
  ["/responses", (text) => item({ type: "message", content: text })],
  ["/responses", (text) => item({ type: "message", content: [text] })],
  ["/responses", (text) => item({ type: "message", content: { type: "output_text", text } })],
  ["/responses", (text) => item({ type: "message", content: [{ type: "output_text", text: [text] }] })],
  ["/responses", (text) => item({ type: "message", content: [{ type: "output_text", text: "Hi", note: text }] })],
  [
    "/responses",
    (text) => item({ type: "message", content: [{ type: "output_audio", transcript: text, data: "AA" }] }),
  ],
  ["/responses", (text) => ({ ...item({ type: "message", content: [] }), note: text })],
  ["/responses", (text) => item({ type: "reasoning", summary: text })],
  ["/responses", (text) => item({ type: "reasoning", summary: [text] })],
  ["/chat/completions", (text) => message({ content: [text] })],
  ["/chat/completions", (text) => message({ audio: { transcript: text, data: "AA" } })],
  ["/chat/completions", (text) => message({ note: { data: text } })],
  [
    "/chat/completions",
    (text) => message({ tool_calls: [{ id: "c", function: { name: "f", arguments: "" }, note: text }] }),
  ],
  [
    "/chat/completions",
    (text) => message({ tool_calls: [{ id: "c", function: { name: "f", arguments: "" }, custom: { input: text } }] }),
  ],
  ["/chat/completions", (text) => message({ function_call: { name: "f", arguments: "", note: text } })],
  ["/chat/completions", (text) => ({ ...message({}), usage: { note: text } })],
  ["/completions", (text) => ({ choices: [{ index: 0, text: [text] }] })],
  ["/completions", (text) => ({ choices: [{ index: 0, text: "Hi", note: text }] })],
  ["/completions", (text) => ({ choices: [{ index: 0, text: "Hi" }], note: text })],
  ["/messages", (text) => block({ type: "text", text: [text] })],
  ["/messages", (text) => block({ type: "text", text: "Hi", note: text })],
  ["/messages", (text) => block({ type: "thinking", thinking: [text], signature: "AA" })],
  ["/messages", (text) => block({ type: "tool_use", id: "t", name: "f", input: {}, note: text })],
  [
    "/messages",
    (text) => block({ type: "web_search_tool_result", content: [{ type: "web_search_result", title: text }] }),
  ],
  ["/messages", (text) => block({ type: "mcp_tool_result", content: [{ type: "text", text }] })],
  ["/messages", (text) => block({ type: "code_execution_tool_result", content: { stdout: text } })],
  ["/messages", (text) => block({ type: "unheard_of_tool_result", content: text })],
  ["/messages", (text) => ({ ...block({ type: "text", text: "Hi" }), note: text })],
  [GEMINI, (text) => part({ text: [text] })],
  [GEMINI, (text) => part({ text: "Hi", note: text })],
  [GEMINI, (text) => part({ text: "Hi", thoughtSignature: text })],
  [GEMINI, (text) => part({ text, thought: true })],
  [GEMINI, (text) => part({ functionCall: { name: "f", args: {}, note: text } })],
  [GEMINI, (text) => part({ executableCode: { language: text, code: "1" } })],
  [GEMINI, (text) => part({ codeExecutionResult: { outcome: "OUTCOME_OK", output: text } })],
  [GEMINI, (text) => part({ functionResponse: { name: "f", response: { a: text } } })],
  [GEMINI, (text) => part({ inlineData: { mimeType: "image/png", data: "AAAA", displayName: text } })],
  [
    GEMINI,
    (text) =>
      part(
        { text: "Hi" },
        { groundingMetadata: { groundingChunks: [{ web: { uri: "https://a.example", title: text } }] } },
      ),
  ],
  [GEMINI, (text) => part({ text: "Hi" }, { citationMetadata: text })],
  [GEMINI, (text) => part({ text: "Hi" }, { finishMessage: text })],
  [GEMINI, (text) => part({ text: "Hi" }, { finishReason: text })],
  [GEMINI, (text) => part({ text: "Hi" }, { content: { parts: [], note: text } })],
  [GEMINI, (text) => ({ ...part({ text: "Hi" }), note: text })],
  [GEMINI, (text) => ({ promptFeedback: { blockReasonMessage: text } })],
  ["/images/generations", (text) => ({ data: [{ b64_json: "AAAA", revised_prompt: text }] })],
  ["/images/generations", (text) => ({ data: [{ b64_json: "AAAA", note: text }] })],
];

describe("an answer", () => {
  it.each(ANSWERS)("is judged wherever it has texts: %s %#", async (path, answer) => {
    expect(await answerOf(path, answer(LEAK))).toBe("GUARD_BLOCKED");
    expect(JSON.parse(await answerOf(path, answer("It rains.")))).toEqual(answer("It rains."));
  });

  it.each([
    ["/chat/completions", message({ tool_calls: { id: "c", function: { name: "f", arguments: LEAK } } })],
    ["/chat/completions", message({ tool_calls: LEAK })],
    ["/chat/completions", message({ tool_calls: [LEAK] })],
    ["/chat/completions", message({ function_call: LEAK })],
    ["/messages", { content: LEAK }],
    ["/responses", { output: LEAK }],
    ["/completions", { choices: LEAK }],
  ])("of another shape is an error: %s %#", async (path, answer) => {
    expect(await answerOf(path, answer)).toBe("GUARD_UPSTREAM");
  });

  it("may have ordinary ids, models and providers", async () => {
    const usual = {
      id: "gen-1764400000-AbCdEfGhIjKlMnOpQrSt",
      provider: "Google AI Studio",
      model: "accounts/fireworks/models/llama-v3p1-405b-instruct",
      object: "chat.completion",
      system_fingerprint: "fp_44709d6fcb",
      x_groq: { id: "req_01jbd6g2qdfw2adyrt2az8hz4w" },
      prompt_filter_results: [
        { prompt_index: 0, content_filter_results: { hate: { filtered: false, severity: "safe" } } },
      ],
      usage: { prompt_tokens: 1, completion_tokens_details: { reasoning_tokens: 0 } },
      ...message({ tool_calls: [{ id: "call_abc", type: "function", function: { name: "f", arguments: "{}" } }] }),
    };
    expect(JSON.parse(await answerOf("/chat/completions", usual))).toEqual(usual);
  });
});

const chunk = (delta: object, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] });
const call = { type: "function_call", id: "fc_1", name: "f", arguments: "" };
const begun = { type: "response.output_item.added", output_index: 0, item: call };
const ended = { type: "response.output_item.done", output_index: 0, item: { ...call, arguments: "{}" } };
const start = { type: "message_start", message: { type: "message", role: "assistant", content: [] } };

/** Streams with a text in a place where clients may read it. */
const STREAMS: [string, (text: string) => object[] | string][] = [
  ["/responses", (text) => [begun, { type: "response.output_text.done", output_index: 0, text }, ended]],
  ["/responses", (text) => [begun, { type: "response.content_part.added", output_index: 0, part: { text } }, ended]],
  ["/responses", (text) => [{ type: "response.output_text.delta", output_index: 0, delta: "Hi", note: text }]],
  ["/responses", (text) => [{ type: "response.audio.delta", output_index: 0, delta: text }]],
  ["/responses", (text) => [begun, { ...ended, item: { type: "mcp_call", arguments: "{}", output: text } }]],
  ["/responses", (text) => [{ type: "response.completed", response: { output: [], note: text } }]],
  ["/chat/completions", (text) => [chunk({ content: "Hi" }, { note: text })]],
  [
    "/chat/completions",
    (text) => [
      chunk({ tool_calls: [{ index: 0, function: { name: "f", arguments: "{}" }, custom: { input: text } }] }),
    ],
  ],
  ["/completions", (text) => [{ choices: [{ index: 0, text: "Hi", note: text }] }]],
  [GEMINI_STREAM, (text) => [part({ text: [text] })]],
  [GEMINI_STREAM, (text) => [part({ text: "Hi", note: text })]],
  [GEMINI_STREAM, (text) => [part({ text: "Hi", thoughtSignature: text })]],
  [GEMINI_STREAM, (text) => [part({ text, thought: true })]],
  [GEMINI_STREAM, (text) => [part({ functionCall: { name: "f", args: {}, note: text } })]],
  [GEMINI_STREAM, (text) => [part({ executableCode: { language: text, code: "1" } })]],
  [GEMINI_STREAM, (text) => [part({ codeExecutionResult: { outcome: "OUTCOME_OK", output: text } })]],
  [GEMINI_STREAM, (text) => [part({ functionResponse: { name: "f", response: { a: text } } })]],
  [GEMINI_STREAM, (text) => [part({ inlineData: { mimeType: "image/png", data: "AAAA", displayName: text } })]],
  [
    GEMINI_STREAM,
    (text) => [
      part(
        { text: "Hi" },
        { groundingMetadata: { groundingChunks: [{ web: { uri: "https://a.example", title: text } }] } },
      ),
    ],
  ],
  [GEMINI_STREAM, (text) => [part({ text: "Hi" }, { citationMetadata: text })]],
  [GEMINI_STREAM, (text) => [part({ text: "Hi" }, { finishMessage: text })]],
  [GEMINI_STREAM, (text) => [part({ text: "Hi" }, { finishReason: text })]],
  [GEMINI_STREAM, (text) => [part({ text: "Hi" }, { content: { parts: [], note: text } })]],
  [GEMINI_STREAM, (text) => [{ ...part({ text: "Hi" }), note: text }]],
  [GEMINI_STREAM, (text) => [{ promptFeedback: { blockReasonMessage: text } }]],
  ["/messages", (text) => [start, { type: "ping", note: text }]],
  ["/messages", (text) => [start, { type: "message_delta", delta: { stop_reason: "end_turn", note: text } }]],
  ["/messages", (text) => [start, { type: "message_delta", delta: { stop_sequence: `${text} ${text}` } }]],
  ["/messages", (text) => [{ ...start, message: { ...start.message, note: text } }]],
  ["/messages", (text) => [start, { type: "content_block_stop", index: 0, note: text }]],
  ["/messages", (text) => [start, { type: "message_stop", note: text }]],
  [
    "/messages",
    (text) => [
      start,
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "t", name: "f", input: {}, note: text },
      },
    ],
  ],
  [
    "/messages",
    (text) => [
      start,
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "mcp_tool_result", content: [{ type: "text", text }] },
      },
    ],
  ],
];

describe("a stream", () => {
  it.each(STREAMS)("is judged wherever it has texts: %s %#", async (path, events) => {
    expect(await answerOf(path, events(LEAK))).toBe("GUARD_BLOCKED");
    expect(await answerOf(path, events("It rains."))).not.toMatch(/^GUARD/);
  });

  it.each(["/chat/completions", "/completions", "/responses"])(
    "contains no text after its end mark, nor in event names: %s",
    async (path) => {
      expect(await answerOf(path, `data: [DONE] ${LEAK}\n\n`)).toBe("GUARD_UPSTREAM");
      expect(await answerOf(path, `event: ${LEAK}\nid: ${LEAK}\ndata: [DONE]\n\n`)).toBe("data: [DONE]\n\n");
    },
  );

  it.each([{ tool_calls: { function: { arguments: LEAK } } }, { tool_calls: LEAK }, { function_call: LEAK }])(
    "of another shape is an error: %j",
    async (delta) => {
      expect(await answerOf("/chat/completions", [chunk(delta)])).toBe("GUARD_UPSTREAM");
    },
  );

  it.each(["/chat/completions", "/completions"])("with choices of another shape is an error: %s", async (path) => {
    const error = { message: "Overloaded" };
    expect(await answerOf(path, [{ choices: LEAK, error }])).toBe("GUARD_UPSTREAM");
    expect(await answerOf(path, [{ choices: [LEAK], error }])).toBe("GUARD_UPSTREAM");
    expect(await answerOf(path, [{ error }])).toContain("Overloaded");
  });
});

describe("a transcript", () => {
  const MAIL = "ann@example.com";
  const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";
  const TEXT = `Write to ${HIDDEN} soon. Thanks.`;
  const words = (text: string) => text.split(" ").map((word) => ({ word: word.replace(/[.]$/, ""), start: 0, end: 1 }));

  /** Sends a request with an address, so that its placeholder in the answer is replaced. */
  async function transcript(answer: object) {
    const call = guardedFetch(await exampleGuard(), { fetch: (async () => Response.json(answer)) as typeof fetch });
    const form = new FormData();
    form.append("prompt", `Write to ${MAIL}.`);
    form.append("file", new Blob(["RIFF"]), "a.wav");
    const reply = await call("https://api.example/v1/audio/transcriptions", { method: "POST", body: form });
    return reply.json();
  }

  it("is changed in its segments and words as in its text, and loses its tokens", async () => {
    const answer = (text: string, tokens: unknown[]) => ({
      text,
      logprobs: tokens,
      segments: [
        { id: 0, text: ` ${text.slice(0, text.indexOf(" Thanks"))}`, tokens, words: words(text.slice(0, -8)) },
        { id: 1, text: " Thanks.", tokens, words: words("Thanks.") },
      ],
      words: words(text),
    });
    expect(await transcript(answer(TEXT, [1, 2]))).toEqual(answer(TEXT.replace(HIDDEN, MAIL), []));
  });

  it("keeps its tokens when it is not changed", async () => {
    const answer = {
      text: "Hello there.",
      logprobs: [{ token: "Hello" }],
      segments: [{ text: "Hello there.", tokens: [1] }],
    };
    expect(await transcript(answer)).toEqual(answer);
  });

  it("is masked over the borders of words", async () => {
    const others = [{ word: "something" }, { word: "else" }];
    expect(await transcript({ text: HIDDEN, words: others })).toEqual({ text: MAIL, words: [] });
    const aligned = HIDDEN.split(/(?=EMAIL)/).map((word) => ({ word }));
    expect(await transcript({ text: HIDDEN, words: aligned })).toEqual({
      text: MAIL,
      words: [{ word: MAIL }, { word: "" }],
    });
  });

  it.each([
    { text: "Hi", segments: [{ text: "Nothing of that was leaked." }] },
    { text: "Hi", segments: ["It was leaked."] },
    { text: "Hi", segments: "It was leaked." },
    { text: "Hi", words: ["was", "leaked"].map((word) => ({ word })) },
    { text: "Hi", note: "It was leaked." },
    { text: "It was leaked.", segments: [{ text: "It was leaked." }] },
    { text: "Hi", segments: [{ text: "Hi", speaker: "was leaked" }] },
  ])("is judged wherever it has texts: %j", async (answer) => {
    await expect(transcript(answer)).rejects.toMatchObject({ code: "GUARD_BLOCKED" });
  });
});
