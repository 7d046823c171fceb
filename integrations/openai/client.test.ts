import OpenAI, { AzureOpenAI, toFile } from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { GuardBlockedError, input, output } from "../../src/index.ts";
import { guardOpenAI } from "../../src/integrations/openai.ts";
import { exampleGuard } from "../../test/support/example-guard.ts";
import { remoteGuard, startGuardServer } from "../../test/support/guard-server.ts";
import { sse, upstreamForTests } from "../../test/support/upstream.ts";

const upstream = upstreamForTests();
const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";

async function clientOf(): Promise<OpenAI> {
  const client = new OpenAI({ apiKey: "none", baseURL: `${upstream.url}/v1`, maxRetries: 0 });
  return guardOpenAI(client, await exampleGuard());
}

const completion = (message: object, finish_reason = "stop") => ({
  json: { id: "1", object: "chat.completion", choices: [{ index: 0, finish_reason, message }] },
});
const answering = (content: string) => completion({ role: "assistant", content });

describe("a guarded client of OpenAI's SDK", () => {
  it("has everything that the client has, which itself is unchanged", async () => {
    const urls: string[] = [];
    const client = new OpenAI({
      apiKey: "key-1",
      baseURL: `${upstream.url}/v1`,
      defaultHeaders: { "x-team": "blue" },
      fetch: (url, init) => {
        urls.push(String(url));
        return fetch(url, init);
      },
    });
    const guarded = guardOpenAI(client, await exampleGuard());
    upstream.answers = [answering(HIDDEN)];
    const body = { model: "gpt", messages: [{ role: "user" as const, content: MAIL }] };
    expect((await guarded.chat.completions.create(body)).choices[0]?.message.content).toBe(MAIL);
    expect((await client.chat.completions.create(body)).choices[0]?.message.content).toBe(HIDDEN);
    expect(urls).toHaveLength(2);
    expect(upstream.received.map(({ json }) => json.messages[0].content)).toEqual([HIDDEN, MAIL]);
    expect(upstream.received[0]?.headers).toMatchObject({ authorization: "Bearer key-1", "x-team": "blue" });
  });

  it("parses answers", async () => {
    const client = await clientOf();
    const schema = z.object({ to: z.string() });
    upstream.answers = [answering(JSON.stringify({ to: HIDDEN }))];
    const chat = await client.chat.completions.parse({
      model: "gpt",
      messages: [{ role: "user", content: MAIL }],
      response_format: zodResponseFormat(schema, "mail"),
    });
    expect(chat.choices[0]?.message.parsed).toEqual({ to: MAIL });
    const content = [{ type: "output_text", text: JSON.stringify({ to: HIDDEN }), annotations: [] }];
    upstream.answers = [{ json: { id: "1", output: [{ id: "m", type: "message", role: "assistant", content }] } }];
    const format = zodTextFormat(schema, "mail");
    const response = await client.responses.parse({ model: "gpt", input: MAIL, text: { format } });
    expect(response.output_parsed).toEqual({ to: MAIL });
  });

  it("runs tools with the original values, and hides them from the model", async () => {
    const client = await clientOf();
    const call = { id: "c", type: "function", function: { name: "send", arguments: JSON.stringify({ to: HIDDEN }) } };
    upstream.answers = [
      completion({ role: "assistant", content: null, tool_calls: [call] }, "tool_calls"),
      answering(`Sent to ${HIDDEN}.`),
    ];
    const sent: string[] = [];
    const runner = client.chat.completions.runTools({
      model: "gpt",
      messages: [{ role: "user", content: `Write to ${MAIL}.` }],
      tools: [
        {
          type: "function",
          function: {
            name: "send",
            description: "Sends a mail.",
            parameters: { type: "object", properties: { to: { type: "string" } } },
            parse: JSON.parse,
            function: ({ to }: { to: string }) => {
              sent.push(to);
              return `Delivered to ${to}.`;
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe(`Sent to ${MAIL}.`);
    expect(sent).toEqual([MAIL]);
    expect(upstream.received.map(({ text }) => text.includes(MAIL))).toEqual([false, false]);
    const blocked = client.chat.completions.runTools({
      model: "gpt",
      messages: [{ role: "user", content: "forbidden" }],
      tools: [],
    });
    await expect(blocked.finalContent()).rejects.toMatchObject({ cause: expect.any(GuardBlockedError) });
  });

  it("hides restored values from the model in later turns", async () => {
    const client = await clientOf();
    const call = { id: "c", type: "function" as const, function: { name: "send", arguments: `{"to":"${MAIL}"}` } };
    upstream.answers = [answering(`I wrote to ${HIDDEN}.`)];
    const { choices } = await client.chat.completions.create({
      model: "gpt",
      messages: [
        { role: "user", content: `Write to ${MAIL}.` },
        { role: "assistant", content: `Writing to ${MAIL}.`, tool_calls: [call] },
        { role: "tool", tool_call_id: "c", content: `Delivered to ${MAIL}.` },
        { role: "assistant", content: `I wrote to ${MAIL}.` },
        { role: "user", content: "What did you do?" },
      ],
    });
    expect(choices[0]?.message.content).toBe(`I wrote to ${MAIL}.`);
    expect(upstream.received[0]?.text).not.toContain(MAIL);
    expect(upstream.received[0]?.text.split(HIDDEN)).toHaveLength(6);
  });

  it("makes embeddings and transcripts", async () => {
    const client = await clientOf();
    upstream.answers = [{ json: { data: [{ index: 0, embedding: [0.5, -0.25] }] } }];
    const { data } = await client.embeddings.create({ model: "e", input: [MAIL], encoding_format: "float" });
    expect(data[0]?.embedding).toEqual([0.5, -0.25]);
    expect(upstream.received[0]?.json.input).toEqual([HIDDEN]);
    await expect(client.embeddings.create({ model: "e", input: "forbidden" })).rejects.toThrow(GuardBlockedError);
    await expect(client.embeddings.create({ model: "e", input: [1, 2] })).rejects.toThrow(
      "token ids cannot be checked",
    );

    const file = await toFile(Buffer.from("RIFF"), "a.wav");
    upstream.answers = [{ json: { text: `It is ${HIDDEN}.` } }];
    const transcript = await client.audio.transcriptions.create({ model: "w", file, prompt: `Names: ${MAIL}` });
    expect(transcript.text).toBe(`It is ${MAIL}.`);
    expect(upstream.received.at(-1)?.text).toContain(`Names: ${HIDDEN}`);
    expect(upstream.received.at(-1)?.text).not.toContain(MAIL);
    const translation = client.audio.translations.create({ model: "w", file, prompt: "forbidden" });
    await expect(translation).rejects.toThrow(GuardBlockedError);
    await expect(client.files.create({ file, purpose: "user_data" })).rejects.toThrow("is not known to guard");
    expect(upstream.received).toHaveLength(2);
  });

  it("may call a guard server", async () => {
    const { url } = await startGuardServer({
      input: [
        new input.Anonymize({ entityTypes: ["EMAIL_ADDRESS"], recognizerConf: [] }),
        new input.BanSubstrings({ substrings: ["forbidden"] }),
      ],
      output: [new output.Deanonymize(), new output.BanSubstrings({ substrings: ["leaked"] })],
    });
    const plain = new OpenAI({ apiKey: "none", baseURL: `${upstream.url}/v1`, maxRetries: 0 });
    const client = guardOpenAI(plain, remoteGuard({ url }));
    const body = { model: "gpt", messages: [{ role: "user" as const, content: MAIL }] };
    upstream.answers = [answering(`To ${HIDDEN}.`)];
    expect((await client.chat.completions.create(body)).choices[0]?.message.content).toBe(`To ${MAIL}.`);
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      id: "1",
      choices: [{ index: 0, delta, finish_reason }],
    });
    const pieces = ["To [REDACTED_EMAIL_", "ADDRESS_1]", "."].map((content) => chunk({ role: "assistant", content }));
    upstream.answers = [{ pieces: sse([...pieces, chunk({}, "stop")]) }];
    expect(await client.chat.completions.stream(body).finalContent()).toBe(`To ${MAIL}.`);
    upstream.answers = [{ pieces: sse([chunk({ content: "It was leaked." }), chunk({}, "stop")]) }];
    const blocked = client.chat.completions.stream(body).finalContent();
    await expect(blocked).rejects.toMatchObject({ cause: expect.any(GuardBlockedError) });
    expect(upstream.received.map(({ json }) => json.messages[0].content)).toEqual([HIDDEN, HIDDEN, HIDDEN]);

    const away = guardOpenAI(plain, remoteGuard({ url: "http://127.0.0.1:9", retries: 0 }));
    await expect(away.chat.completions.create(body)).rejects.toMatchObject({ code: "GUARD_UNREACHABLE" });
    expect(upstream.received).toHaveLength(3);
  });

  it("may be a client for Azure", async () => {
    const azure = new AzureOpenAI({ apiKey: "none", endpoint: upstream.url, apiVersion: "2024-10-21", maxRetries: 0 });
    const client = guardOpenAI(azure, await exampleGuard());
    upstream.answers = [answering(HIDDEN)];
    const messages = [{ role: "user" as const, content: MAIL }];
    const { choices } = await client.chat.completions.create({ model: "gpt", messages });
    expect(choices[0]?.message.content).toBe(MAIL);
    expect(upstream.received[0]?.url).toBe("/openai/deployments/gpt/chat/completions?api-version=2024-10-21");
    expect(upstream.received[0]?.json.messages[0].content).toBe(HIDDEN);
  });
});
