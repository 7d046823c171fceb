// Bodies of requests and answers in all formats: each is read, or rejected with an error of guard.
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { FORMATS } from "../../dist/http-formats/formats.js";
import { readRequestParts } from "../../dist/http-formats/request-parts.js";
import { GuardError } from "../../dist/support/errors.js";
import { mutatedJson } from "./mutate.mjs";

const folder = new URL("../../test/messages/shapes/", import.meta.url);
const requests = readdirSync(folder)
  .flatMap((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")))
  .map(({ request }) => request);
const call = { id: "a", type: "function", function: { name: "f", arguments: '{"a":"b"}' } };
const answers = [
  { choices: [{ index: 0, message: { role: "assistant", content: "Hi", refusal: null, tool_calls: [call] } }] },
  { choices: [{ index: 0, text: "Hi", logprobs: null }] },
  {
    type: "message",
    role: "assistant",
    content: [
      { type: "text", text: "Hi" },
      { type: "tool_use", id: "a", name: "f", input: {} },
    ],
  },
  { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi", annotations: [] }] }] },
  {
    output: [
      { type: "mcp_call", name: "f", arguments: "{}", output: "Hi" },
      { type: "message", content: "Hi" },
    ],
  },
  {
    text: "Hi there.",
    segments: [{ text: "Hi there.", tokens: [1], words: [{ word: "Hi" }] }],
    words: [{ word: "Hi" }],
  },
  { data: [{ index: 0, embedding: [0.1] }] },
  { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] } }] },
];
const bodies = [
  ...requests,
  ...requests.map(({ messages }) => ({ input: messages })),
  { prompt: "Hi" },
  { input: ["Hi"] },
  {
    input: "Hi",
    response_format: { json_schema: { schema: { enum: ["a"] } } },
    metadata: { a: "b c" },
    prompt: { id: "p" },
  },
];

const isBody = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function attempt(read) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
  }
}

export const property = fc.property(mutatedJson(bodies), mutatedJson(answers), (request, answer) => {
  for (const format of FORMATS) {
    if (isBody(request)) attempt(() => readRequestParts(format, structuredClone(request), { unguarded: "refuse" }));
    if (isBody(answer)) attempt(() => format.readAnswer?.(structuredClone(answer)));
  }
});
