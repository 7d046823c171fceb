import { describe, expect, it } from "vitest";
import { passed } from "../../../src/scan/scanner.ts";
import { scannerOf, testServer } from "../fixtures.ts";

describe("answers of Portkey's gateway", () => {
  it.each([
    ["complete", { prompt: "Where is Oslo?" }, { choices: [{ text: "In Norway." }] }],
    ["complete", { prompt: "Where is Oslo?", note: "Ann asked for it" }, { choices: [{ text: "In Norway." }] }],
    [
      "chatComplete",
      { messages: [{ role: "user", content: "Where is Oslo?" }], note: "Ann asked for it" },
      { choices: [{ message: { role: "assistant", content: "In Norway." } }] },
    ],
  ])("are compared with the prompt: %s %j", async (requestType, request, response) => {
    const prompts: unknown[] = [];
    const comparing = scannerOf("Comparing", async (text, { prompt }) => {
      prompts.push(prompt);
      return passed(text);
    });
    const server = await testServer({ output: [comparing] }, { dialects: ["portkey"] });
    const hook = {
      eventType: "afterRequestHook",
      requestType,
      request: { json: request },
      response: { json: response },
    };
    const reply = await server.post("/portkey", hook);
    expect(reply.json()).toMatchObject({ verdict: true });
    expect(prompts).toEqual(["Where is Oslo?"]);
  });
});
