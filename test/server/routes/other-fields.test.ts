import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { Anonymize, BanSubstrings } from "../../../src/scanners/generated/input-scanners.ts";
import { BanSubstrings as BanInOutput } from "../../../src/scanners/generated/output-scanners.ts";
import { testServer } from "../fixtures.ts";

const ALL = ["user", "tool", "tool_definition", "system"] as const;

function server(app: NonNullable<ConfigInput["app"]> = {}) {
  const scan = Object.fromEntries(ALL.map((source) => [source, ["BanSubstrings", "Anonymize"]]));
  const scanners = {
    input: [
      new BanSubstrings({ substrings: ["zebra"] }),
      new Anonymize({ entityTypes: ["EMAIL_ADDRESS"], recognizerConf: [] }),
    ],
    output: [new BanInOutput({ substrings: ["zebra"] })],
  };
  return testServer(scanners, { app, conversation: { scan } });
}

/** The routes, with a body that passes and a further field. */
const ROUTES: [string, Record<string, unknown>, string][] = [
  ["/scan/prompt", { prompt: "Hi", title: "A zebra" }, "title"],
  ["/analyze/prompt", { prompt: "Hi", title: "A zebra" }, "title"],
  ["/scan/output", { prompt: "Hi", output: "Hello", title: "A zebra" }, "title"],
  ["/scan/conversation", { messages: [{ role: "user", content: "Hi" }], title: "A zebra" }, "title"],
  ["/scan/documents", { documents: [{ text: "Hi", title: "A zebra" }, "Hello"] }, "documents[].title"],
  ["/analyze/documents", { documents: ["Hi"], metadata: { note: "A zebra" } }, "metadata"],
];

describe("fields that guard does not know", () => {
  it.each(ROUTES)("are named in the coverage, and logged once: %s %j", async (path, body, name) => {
    const { post, log } = await server();
    for (let count = 0; count < 2; count++) {
      const reply = await post(path, { ...body, details: true });
      expect(reply.json()).toMatchObject({ is_valid: true, coverage: { unknown_fields: [name] } });
    }
    const lines = log.filter((line) => line.includes("app.unknown_fields"));
    expect(lines.map((line) => JSON.parse(line).fields)).toEqual([[name]]);
  });

  it.each(ROUTES)("fail under full coverage: %s %j", async (path, body) => {
    const { post } = await server({ requireFullCoverage: true });
    expect((await post(path, body)).json()).toMatchObject({ is_valid: false });
  });

  it.each(ROUTES)("are read on request: %s %j", async (path, body) => {
    const { post } = await server({ unknownFields: "read" });
    const reply = (await post(path, { ...body, details: true })).json();
    expect(reply).toMatchObject({ is_valid: false, outcome: "blocked", coverage: { unknown_fields: [] } });
    const harmless = JSON.parse(JSON.stringify(body).replace("zebra", "horse"));
    expect((await post(path, { ...harmless, details: true })).json()).toMatchObject({
      is_valid: true,
      outcome: "passed",
    });
  });

  it("are masked if they are read", async () => {
    const { post } = await server({ unknownFields: "read" });
    const reply = await post("/analyze/prompt", { prompt: "Hi", author: { mail: "ann@example.org" }, details: true });
    expect(reply.json()).toMatchObject({
      sanitized_prompt: "Hi",
      sanitized_fields: { author: { mail: "[REDACTED_EMAIL_ADDRESS_1]" } },
      outcome: "masked",
      vault: expect.any(String),
    });
  });

  it.each(ROUTES)("are refused on request: %s %j", async (path, body, name) => {
    const { post } = await server({ unknownFields: "refuse" });
    const reply = await post(path, body);
    expect(reply.statusCode).toBe(422);
    const [field, inner] = name.split("[].");
    const detail = inner ? `has objects with an unknown field ${inner}` : "is not a field of this request";
    expect(reply.json().errors).toEqual([{ pointer: `/${field}`, detail }]);
  });

  it("are suggested another name", async () => {
    const { post } = await server({ unknownFields: "refuse" });
    const { errors } = (await post("/scan/prompt", { prompt: "Hi", detials: true })).json();
    expect(errors[0].detail).toContain("details");
  });

  it.each(["report", "read"] as const)("count in batches and streams too: %s", async (unknownFields) => {
    const { post } = await server({ unknownFields, requireFullCoverage: true });
    const lines = async (path: string, body: object) =>
      (await post(path, { ...body, details: true })).body
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    expect(await lines("/scan/prompts", { prompts: ["Hi"], title: "A zebra" })).toMatchObject([{ is_valid: false }]);
    expect(await lines("/scan/outputs", { outputs: [{ output: "Hi", title: "A zebra" }] })).toMatchObject([
      { is_valid: false },
    ]);
    const events = await lines("/scan/output/stream", { prompt: "Hi", output: "Hello", title: "A zebra" });
    expect(events.at(-1)).toMatchObject({ event: "blocked", coverage: { unknown_fields: ["title"] } });
  });
});

describe("fields of a request to a model", () => {
  const chat = { messages: [{ role: "user", content: "Hi" }] };

  it.each([
    { instructions: "Talk of a zebra." },
    { functions: [{ name: "f", description: "Finds a zebra" }] },
    { response_format: { type: "json_schema", json_schema: { name: "a", schema: { enum: ["one zebra"] } } } },
    { metadata: { note: "about a zebra" } },
    { fields: { documents: [{ title: "A zebra" }] } },
  ])("are read in a conversation: %j", async (more) => {
    const { post } = await server();
    const reply = (await post("/analyze/conversation", { ...chat, ...more, details: true })).json();
    expect(reply).toMatchObject({ is_valid: false, outcome: "blocked", coverage: { unknown_fields: [] } });
  });

  it("are returned as they may be sent on", async () => {
    const { post } = await server();
    const fields = {
      instructions: "Write to ann@example.org.",
      user: "ann@example.org",
      temperature: 1,
      model: "gpt-4o",
    };
    const reply = (await post("/analyze/conversation", { ...chat, ...fields, details: true })).json();
    const masked = "[REDACTED_EMAIL_ADDRESS_1]";
    expect(reply.sanitized_fields).toEqual({ ...fields, instructions: `Write to ${masked}.`, user: masked });
  });

  it("without text are not unknown, so that a whole request may be sent", async () => {
    const { post, log } = await server({ requireFullCoverage: true });
    const whole = {
      model: "gpt-4o",
      temperature: 0.2,
      max_tokens: 100,
      stream: true,
      stop: ["\n\nHuman:"],
      metadata: { user_id: "u-1" },
      tool_choice: "auto",
      ...{ response_format: { type: "json_object" }, logit_bias: { "50256": -100 }, seed: 7 },
    };
    expect((await post("/scan/conversation", { ...chat, ...whole })).json()).toMatchObject({ is_valid: true });
    const output = { prompt: "Hi", output: "Hello", ...chat, ...whole };
    expect((await post("/scan/output", output)).json()).toMatchObject({ is_valid: true });
    expect(log.filter((line) => line.includes("unknown_fields"))).toEqual([]);
  });

  it("may be all that there is", async () => {
    const { post } = await server();
    const body = { messages: [], fields: { documents: ["A zebra"] } };
    expect((await post("/scan/conversation", body)).json()).toMatchObject({ is_valid: false });
    expect((await post("/scan/conversation", { messages: [] })).statusCode).toBe(422);
  });
});
