import { describe, expect, it } from "vitest";
import { guardedFetch } from "../../src/http-formats/guarded-fetch.ts";
import type { ScanServiceOptions } from "../../src/service/service-types.ts";
import { exampleGuard } from "../support/example-guard.ts";

const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";

/** Sends a body through a guarded fetch. @returns the body that the provider was sent, or the error. */
async function send(path: string, body: Record<string, unknown>, options: Partial<ScanServiceOptions> = {}) {
  const sent: unknown[] = [];
  const fetch = async (_: unknown, { body }: RequestInit = {}) => {
    sent.push(JSON.parse(body as string));
    return Response.json({ error: {} });
  };
  const call = guardedFetch(await exampleGuard(options), { fetch: fetch as typeof globalThis.fetch });
  const reply = await call(`https://api.example/v1${path}`, { method: "POST", body: JSON.stringify(body) });
  const error = await reply.json().then(
    () => undefined,
    (error) => error,
  );
  return { sent: sent[0], error };
}

const messages = [{ role: "user", content: "Hi" }];
const ASK: Record<string, Record<string, unknown>> = {
  "/chat/completions": { messages },
  "/responses": { input: "Hi" },
  "/messages": { messages, max_tokens: 9 },
  "/completions": { prompt: "Hi" },
  "/embeddings": { input: "Hi" },
  "/moderations": { input: "Hi" },
  "/audio/speech": { input: "Hi", voice: "alloy" },
  "/images/generations": { prompt: "Hi" },
};
const schema = (text: string) => ({ type: "object", properties: { day: { enum: ["Monday", text] } } });

describe.each(Object.entries(ASK))("a request to %s", (path, ask) => {
  it.each([
    ["a schema", { response_format: { type: "json_schema", json_schema: { name: "day", schema: schema(MAIL) } } }],
    ["a format", { text: { format: { type: "json_schema", schema: schema(MAIL) } } }],
    ["an output format", { output_config: { effort: "low" }, output_format: { schema: schema(MAIL) } }],
    ["metadata", { metadata: { user_id: MAIL } }],
    ["an unknown field", { documents: [{ title: `By ${MAIL}` }] }],
  ])("is masked in %s", async (_, more) => {
    const { sent } = await send(path, { model: "m", ...ask, ...more });
    expect(sent).toEqual({ model: "m", ...ask, ...JSON.parse(JSON.stringify(more).replaceAll(MAIL, HIDDEN)) });
  });

  it.each([{ input_ids: [1, 2] }, { prompt_embeds: "AAAA" }, { prompt_token_ids: [[7]] }])(
    "is rejected with unreadable tokens: %j",
    async (more) => {
      const { sent, error } = await send(path, { ...ask, ...more });
      expect([sent, error]).toMatchObject([undefined, { code: "GUARD_VALIDATION", path: Object.keys(more)[0] }]);
    },
  );
});

describe("values of a wrong type", () => {
  it.each([
    ["/chat/completions", { tools: "find" }],
    ["/chat/completions", { tools: { name: "find" } }],
    ["/chat/completions", { functions: "find" }],
    ["/chat/completions", { messages: "Hi" }],
    ["/responses", { input: { role: "user", content: "Hi" } }],
    ["/responses", { input: 7 }],
    ["/responses", { instructions: { text: "Hi" } }],
    ["/responses", { tools: "find" }],
    ["/messages", { tools: "find" }],
    ["/messages", { system: { text: "Hi" } }],
    ["/completions", { prompt: { text: "Hi" } }],
    ["/completions", { suffix: ["Hi"] }],
    ["/embeddings", { input: { text: "Hi" } }],
    ["/moderations", { input: { text: "Hi" } }],
    ["/audio/speech", { input: ["Hi"] }],
    ["/audio/speech", { instructions: ["Hi"] }],
    ["/images/generations", { prompt: ["Hi"] }],
  ])("are errors: %s %j", async (path, wrong) => {
    const { sent, error } = await send(path, { ...ASK[path], ...wrong });
    expect(sent).toBeUndefined();
    expect(error).toMatchObject({ code: "GUARD_VALIDATION" });
  });
});

describe("texts that the provider has", () => {
  it.each([
    ["/responses", { previous_response_id: "resp_1" }],
    ["/responses", { prompt: { id: "pmpt_1" } }],
    ["/responses", { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }],
    ["/messages", { container: { skills: [{ type: "anthropic", skill_id: "pdf" }] } }],
    ["/messages", { mcp_servers: [{ type: "url", url: "https://a.example", name: "a" }] }],
    ["/chat/completions", { web_search_options: {} }],
    ["/completions", { data_sources: [{ type: "azure_search" }] }],
  ])("pass by default, and are refused on request: %s %j", async (path, more) => {
    const body = { ...ASK[path], ...more };
    expect((await send(path, body)).sent).toEqual(body);
    for (const options of [{ stateful: "refuse" }, { requireFullCoverage: true }] as const) {
      expect(await send(path, body, options)).toMatchObject({ sent: undefined, error: { code: "GUARD_BLOCKED" } });
    }
  });
});
