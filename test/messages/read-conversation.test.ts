import { describe, expect, it } from "vitest";
import { GuardValidationError } from "../../src/index.ts";
import { readConversation } from "../../src/messages/read-conversation.ts";
import type { ChatRequest, Message } from "../../src/scan/chat-request.ts";
import type { MessageText } from "../../src/scan/conversation-text.ts";

const read = (...messages: Message[]) => readConversation({ messages }).texts;

/** The texts of a request as short lines. */
const lines = (texts: readonly MessageText[]) =>
  texts.map(
    ({ source, path, text, skipped }) => `${source} ${path}: ${text}${skipped > 0 ? ` (${skipped} skipped)` : ""}`,
  );

/** The strings of a text with their paths. */
const strings = ({ text, pieces }: MessageText) =>
  Object.fromEntries(pieces.map(({ start, end, path }) => [path, text.slice(start, end)]));

describe("readConversation", () => {
  it("reads system first, then tools, then messages with the oldest first", () => {
    const { texts, size } = readConversation({
      system: "Be kind.",
      tools: [{ type: "function", function: { name: "get_weather", description: "Tells the weather." } }],
      messages: [
        { role: "user", content: "Weather in Rome?" },
        { role: "assistant", content: null, tool_calls: [call("c1", "get_weather", '{"city":"Rome"}')] },
        { role: "tool", tool_call_id: "c1", content: '{"sky":"clear","temperature":21}' },
        { role: "assistant", content: "Clear, 21 degrees." },
      ],
    });
    expect(size).toBe(4);
    expect(lines(texts)).toEqual([
      "system system: Be kind.",
      "tool_definition tools/0: get_weather\nTells the weather.",
      "user messages/0/content: Weather in Rome?",
      "tool_call messages/1/tool_calls/0: Rome",
      "tool messages/2/content: clear",
      "assistant messages/3/content: Clear, 21 degrees.",
    ]);
    expect(texts.map(({ message }) => message)).toEqual([undefined, undefined, 0, 1, 2, 3]);
    expect(texts[3]?.toolCall).toEqual({ id: "c1", name: "get_weather", arguments: { city: "Rome" } });
    expect(texts[4]?.toolName).toBe("get_weather");
    expect(texts[1]?.toolDefinition).toMatchObject({ name: "get_weather", description: "Tells the weather." });
  });

  it("gives the path of each string in JSON", () => {
    const inner = JSON.stringify({ body: "Dear team", tags: ["a b"] });
    const content = JSON.stringify({ results: [{ url: "u" }, { description: "d" }], mail: inner, "odd key": "x" });
    const [text] = read({ role: "tool", content });
    expect(strings(text as MessageText)).toEqual({
      "messages/0/content → results[0].url": "u",
      "messages/0/content → results[1].description": "d",
      "messages/0/content → mail → body": "Dear team",
      "messages/0/content → mail → tags[0]": "a b",
      'messages/0/content → ["odd key"] (key)': "odd key",
      'messages/0/content → ["odd key"]': "x",
    });
  });

  it("splits JSON only in tool results and tool calls", () => {
    const content = '{"a": "b"}';
    const source = (role: string) => read({ role, content })[0]?.text;
    expect(["user", "assistant", "system"].map(source)).toEqual([content, content, content]);
    expect(source("tool")).toBe("b");
    const around = 'Result: {"a": "b"}';
    expect(read({ role: "tool", content: around })[0]?.text).toBe(around);
  });

  it("keeps tool results in a user message apart from the user's words", () => {
    const results = [{ type: "tool_result", tool_use_id: "t", content: "sunny" }];
    expect(lines(read({ role: "user", content: results }))).toEqual(["tool messages/0/content/0: sunny"]);
    expect(lines(read({ role: "user", content: [...results, { type: "text", text: "Thanks" }] }))).toEqual([
      "user messages/0/content: Thanks",
      "tool messages/0/content/0: sunny",
    ]);
  });

  it("counts a user message without words", () => {
    const contents = ["", null, [], [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }]];
    expect(contents.map((content) => lines(read({ role: "user", content } as Message))[0])).toEqual([
      "user messages/0/content: ",
      "user messages/0/content: ",
      "user messages/0/content: ",
      "user messages/0/content:  (1 skipped)",
    ]);
  });

  const nested = (levels: number): Message["content"] => {
    let content: Message["content"] = "deep";
    for (let level = 0; level < levels; level++) content = [{ type: "tool_result", content }];
    return content;
  };

  it("reads nested tool results down to a limit", () => {
    expect(lines(read({ role: "user", content: nested(8) }))).toEqual(["tool messages/0/content/0: deep"]);
  });

  it.each([
    [[], "messages", "expected an array of at least one message"],
    ["hello", "messages", "expected an array of at least one message"],
    [[null], "messages.0", "expected an object with role and content"],
    [
      [{ role: "robot", content: "x" }],
      "messages.0.role",
      "expected one of system, developer, user, assistant, model, tool, function",
    ],
    [
      [{ content: "x" }],
      "messages.0.role",
      "expected one of system, developer, user, assistant, model, tool, function",
    ],
    [[{ role: "user", content: 5 }], "messages.0.content", "expected a string, null, a part or an array of parts"],
    [[{ role: "user", content: {} }], "messages.0.content", "expected a string, null, a part or an array of parts"],
    [[{ role: "user", content: [7] }], "messages.0.content.0", "expected a part with a type"],
    [[{ role: "user", content: [{ type: "text" }] }], "messages.0.content.0.text", "expected a string"],
    [[{ role: "assistant", tool_calls: "none" }], "messages.0.tool_calls", "expected an array of tool calls"],
    [
      [{ role: "user", content: nested(20) }],
      `messages.0.content${".0.content".repeat(9)}`,
      "expected no more than 8 nested tool results",
    ],
  ])("rejects messages %#: %j at %s", (messages, path, message) => {
    expect(() => readConversation({ messages } as ChatRequest)).toThrow(new GuardValidationError([{ path, message }]));
  });

  it.each([
    [{ tools: {} }, "tools", "expected an array of tool definitions"],
    [{ tools: ["get_weather"] }, "tools.0", "expected a tool definition"],
    [{ system: 7 }, "system", "expected a string, null, a part or an array of parts"],
  ])("rejects %j beside the messages", (beside, path, message) => {
    const request = { messages: [{ role: "user", content: "x" }], ...beside } as unknown as ChatRequest;
    expect(() => readConversation(request)).toThrow(new GuardValidationError([{ path, message }]));
  });
});

describe("Conversation.rewrite", () => {
  /** Replaces strings of a request by a function of each string. */
  const rewrite = (request: ChatRequest, change: (value: string) => string) => {
    const conversation = readConversation(request);
    const all = conversation.texts.map((text) => {
      return [text, text.pieces.map(({ start, end }) => change(text.text.slice(start, end)))] as const;
    });
    return conversation.rewrite(new Map(all));
  };

  it("returns the request itself without changes", () => {
    const request: ChatRequest = { messages: [{ role: "user", content: "hi" }] };
    expect(rewrite(request, (value) => value)).toBe(request);
  });

  it("changes nothing but the strings of JSON", () => {
    const content = '{ "a":\t"Anna",\n "n": 1.50, "list": [ "Anna \\u0041nna", true ], "a": "Anna"}';
    const request: ChatRequest = { messages: [{ role: "tool", content }] };
    const { messages } = rewrite(request, (value) => value.replaceAll("Anna", '"P"'));
    expect(messages[0]?.content).toBe(
      '{ "a":\t"\\"P\\"",\n "n": 1.50, "list": [ "\\"P\\" \\"P\\"", true ], "a": "\\"P\\""}',
    );
  });

  it("keeps images, ids and everything unchanged", () => {
    const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    const request: ChatRequest = {
      messages: [
        { role: "user", content: [{ type: "text", text: "I am Anna" }, image] },
        { role: "assistant", content: "Hello Anna", id: "m1" },
        { role: "user", content: "ok" },
      ],
    };
    const { messages } = rewrite(request, (value) => value.replace("Anna", "P"));
    expect(messages).toEqual([
      { role: "user", content: [{ type: "text", text: "I am P" }, image] },
      { role: "assistant", content: "Hello P", id: "m1" },
      { role: "user", content: "ok" },
    ]);
    expect(messages[2]).toBe(request.messages[2]);
    expect(request.messages[1]?.content).toBe("Hello Anna");
  });
});

function call(id: string, name: string, args: string) {
  return { id, type: "function", function: { name, arguments: args } };
}
