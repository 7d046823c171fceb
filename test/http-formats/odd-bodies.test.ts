import { describe, expect, it } from "vitest";
import { LocalGuard } from "../../src/guard/local-guard.ts";
import { guardedFetch } from "../../src/http-formats/guarded-fetch.ts";
import { passed, type Scanner } from "../../src/scan/scanner.ts";
import { exampleGuard } from "../support/example-guard.ts";
import { serviceWith } from "../support/service.ts";
import { sse } from "../support/upstream.ts";

const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";
const JSON_TYPE = "application/json";

/** A guarded fetch, and the bodies that the provider received. */
async function guarded(reply: string | object = {}, guard = exampleGuard()) {
  const sent: unknown[] = [];
  const send = async (_: unknown, { body }: RequestInit = {}) => {
    sent.push(body);
    if (typeof reply === "string") return new Response(reply, { headers: { "content-type": JSON_TYPE } });
    if (!Array.isArray(reply)) return Response.json(reply);
    return new Response(sse(reply, "").join(""), { headers: { "content-type": "text/event-stream" } });
  };
  const call = guardedFetch(await guard, { fetch: send as typeof fetch });
  const post = async (path: string, body: string | FormData | object, type: string | undefined = JSON_TYPE) => {
    const isRaw = typeof body === "string" || body instanceof FormData;
    const headers: Record<string, string> = body instanceof FormData ? {} : { "content-type": type };
    const url = `https://api.example/v1${path}`;
    return call(url, { method: "POST", headers, body: isRaw ? body : JSON.stringify(body) }).then((r) => r.text());
  };
  return { post, sent };
}

const ask = { model: "m", messages: [{ role: "user", content: `Write to ${MAIL}.` }] };
const blocked = { code: "GUARD_BLOCKED" };

describe("a request", () => {
  it("keeps integers beyond JavaScript's precision, and still gets placeholders", async () => {
    const input = `{"id":1234567890123456789,"ids":[-98765432109876543210,1e3],"to":"${MAIL}","2":{"n":9007199254740993}}`;
    const answer = `{"content":[{"type":"tool_use","id":"t","name":"f","input":${input.replace(MAIL, HIDDEN)}}]}`;
    const { post, sent } = await guarded(answer);
    const body = (input: string) =>
      `{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":${input}}]}],"seed":12345678901234567890}`;
    const written = input.replace("1e3", "1000").replace(/^\{(.*),("2":.*)\}$/, "{$2,$1}");
    expect(await post("/messages", body(input))).toBe(answer.replace(input.replace(MAIL, HIDDEN), written));
    expect(sent).toEqual([body(written.replace(MAIL, HIDDEN))]);
  });

  it("with duplicate keys is rejected", async () => {
    const { post, sent } = await guarded({ choices: [] });
    const messages = (text: string) => `"messages":[{"role":"user","content":"${text}"}]`;
    for (const [first, second] of [
      ["forbidden", "Hi"],
      ["Hi", "forbidden"],
      ["Hi", "Hi"],
    ] as const) {
      const failed = post("/chat/completions", `{${messages(first)},"n":12345678901234567890,${messages(second)}}`);
      await expect(failed).rejects.toMatchObject({ code: "GUARD_VALIDATION", path: "body.messages" });
    }
    expect(sent).toEqual([]);
  });

  it("is read as the provider reads it, or rejected", async () => {
    const { post, sent } = await guarded({ choices: [] });
    for (const charset of ["utf-16", "UTF-7", '"iso-8859-1"', "ibm037"]) {
      const failed = post("/chat/completions", ask, `application/json; charset=${charset}`);
      await expect(failed).rejects.toMatchObject({ code: "GUARD_VALIDATION" });
    }
    expect(sent).toEqual([]);
    for (const type of ["application/json; charset=UTF-8", 'text/plain;charset="utf-8"', "application/json;"]) {
      await post("/chat/completions", ask, type);
    }
    expect(sent).toEqual(Array(3).fill(JSON.stringify(ask).replace(MAIL, HIDDEN)));
  });

  it("of a form is checked in all fields", async () => {
    const form = (more: object) => {
      const form = new FormData();
      const fields = { file: new Blob(["sound"]), model: "whisper-1", "timestamp_granularities[]": "word", ...more };
      for (const [name, value] of Object.entries(fields)) form.append(name, value as string);
      return form;
    };
    const { post, sent } = await guarded({ text: "Hi" });
    const path = "/audio/transcriptions";
    await expect(post(path, form({ hotwords: "the forbidden word" }))).rejects.toMatchObject(blocked);
    await post(path, form({ hotwords: `Ann, ${MAIL}`, prompt: `To ${MAIL}` }));
    const [got] = sent as [FormData];
    expect([...got].filter(([, value]) => typeof value === "string").sort()).toEqual([
      ["hotwords", `Ann, ${HIDDEN}`],
      ["model", "whisper-1"],
      ["prompt", `To ${HIDDEN}`],
      ["timestamp_granularities[]", "word"],
    ]);
  });

  it("is checked in its instructions on how to shorten a conversation", async () => {
    const { post, sent } = await guarded({ content: [] });
    const management = (instructions: string) => ({ edits: [{ type: "compact_20260112", instructions }] });
    const body = (text: string) => ({ ...ask, context_management: management(text) });
    await expect(post("/messages", body("Keep what is forbidden."))).rejects.toMatchObject(blocked);
    await post("/messages", body(`Keep ${MAIL} in mind.`));
    expect(JSON.parse(sent[0] as string).context_management).toEqual(management(`Keep ${HIDDEN} in mind.`));
  });
});

describe("an answer", () => {
  it("is checked even beside an error", async () => {
    const error = { message: "Too long.", code: 502 };
    const message = { index: 0, message: { role: "assistant", content: "It was leaked." }, text: "leaked" };
    for (const path of ["/chat/completions", "/completions"]) {
      const body = path === "/completions" ? { prompt: "Hi" } : ask;
      const { post } = await guarded({ error, choices: [message] });
      await expect(post(path, body)).rejects.toMatchObject(blocked);
      expect(await (await guarded({ error })).post(path, body)).toBe(JSON.stringify({ error }));
    }
  });

  it("of a chat is checked in fields that OpenAI does not define", async () => {
    const found = (title: string) => ({
      search_results: [{ title, url: "https://example.com/" }],
      citations: ["https://a.example/"],
    });
    const choice = { index: 0, message: { role: "assistant", content: "See there." }, finish_reason: "stop" };
    const body = (title: string) => ({ id: "1", choices: [choice], ...found(title) });
    expect(await (await guarded(body(`Who ${HIDDEN} is`))).post("/chat/completions", ask)).toBe(
      JSON.stringify(body(`Who ${MAIL} is`)),
    );
    const odd = [
      { ...choice, text: "It was leaked." },
      { ...choice, message: { role: "was leaked" } },
    ];
    for (const wrong of [body("What was leaked"), ...odd.map((choice) => ({ choices: [choice] }))]) {
      await expect((await guarded(wrong)).post("/chat/completions", ask)).rejects.toMatchObject(blocked);
    }
    const text = { choices: [{ ...choice, message: "leaked" }] };
    await expect((await guarded(text)).post("/chat/completions", ask)).rejects.toMatchObject({
      code: "GUARD_UPSTREAM",
    });
  });

  it("keeps generated images, also in streams", async () => {
    const images = [{ type: "image_url", image_url: { url: `data:image/png;base64,${"iVBOleaked".repeat(2000)}==` } }];
    const said = { role: "assistant", content: "Here it is.", images };
    const whole = { choices: [{ index: 0, message: said, finish_reason: "stop" }] };
    expect(await (await guarded(whole)).post("/chat/completions", ask)).toBe(JSON.stringify(whole));
    const events = [said, {}].map((delta, index) => ({
      choices: [{ index: 0, delta, finish_reason: index ? "stop" : null }],
    }));
    const text = await (await guarded(events)).post("/chat/completions", { ...ask, stream: true });
    const parts = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    expect(parts.flatMap(({ choices }) => choices[0].delta.images ?? [])).toEqual(images);
    const held = { content: "It", reasoning_details: [{ type: "reasoning.encrypted", data: "gAAAAB" }] };
    const event = { choices: [{ index: 0, delta: held, finish_reason: null }] };
    expect(await (await guarded([event])).post("/chat/completions", { ...ask, stream: true })).toContain("gAAAAB");
    const bad = { choices: [{ index: 0, message: { ...said, images: [{ url: "data:text/plain, It was leaked" }] } }] };
    await expect((await guarded(bad)).post("/chat/completions", ask)).rejects.toMatchObject(blocked);
  });

  it("in several texts is judged as a whole, not by a part of it", async () => {
    const long: Scanner = {
      type: "Long",
      name: "Long",
      sanitizes: true,
      scan: async (text) => ({
        ...passed(text),
        sanitized: text.replace("secret", "***"),
        ...(text.length < 10 && { isValid: false, score: 1 }),
      }),
    };
    const guard = serviceWith({ input: [], output: [long] }).then(({ service }) => new LocalGuard(service));
    const content = ["Yes.", "It is secret now."].map((text) => ({ type: "text", text }));
    const { post } = await guarded({ content }, guard);
    const answer = JSON.parse(await post("/messages", ask));
    expect(answer.content.map(({ text }: { text: string }) => text).join("")).toBe("Yes.It is *** now.");
  });

  it("is checked in the prompt that a model wrote for an image", async () => {
    const output = (revised_prompt: string) => ({
      output: [{ type: "image_generation_call", revised_prompt, result: "aGk=" }],
    });
    const image = { model: "m", input: `Draw ${MAIL}.` };
    expect(await (await guarded(output(`A drawing of ${HIDDEN}`))).post("/responses", image)).toContain(MAIL);
    await expect((await guarded(output("leaked"))).post("/responses", image)).rejects.toMatchObject(blocked);
  });
});

describe("a stream", () => {
  const streamed = { ...ask, stream: true };

  it("of Anthropic is checked in the first event and in unknown events", async () => {
    const events = (text: string) => [
      { type: "message_start", message: { id: "1", content: [{ type: "text", text }] } },
      { type: "new_event", about: { text } },
      { type: "message_stop" },
    ];
    const text = await (await guarded(events(`To ${HIDDEN}`))).post("/messages", streamed);
    expect(text).toBe(sse(events(`To ${MAIL}`), "").join(""));
    for (const event of events("It was leaked.").slice(0, 2)) {
      await expect((await guarded([event])).post("/messages", streamed)).rejects.toMatchObject(blocked);
    }
  });

  it("of responses is checked in the citations of each event that repeats a text", async () => {
    const events = (title: string) => {
      const annotations = [{ type: "url_citation", url: "https://example.com/", title }];
      const part = { type: "output_text", text: "See there.", annotations };
      const item = { id: "m", type: "message", role: "assistant", content: [part] };
      const at = { output_index: 0, content_index: 0 };
      return [
        { type: "response.created", response: { id: "r", output: [] } },
        { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
        { type: "response.content_part.added", ...at, part: { ...part, text: "", annotations: [] } },
        { type: "response.output_text.delta", ...at, delta: part.text },
        { type: "response.output_text.done", ...at, text: part.text },
        { type: "response.content_part.done", ...at, part },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { id: "r", output: [item] } },
      ];
    };
    const body = { model: "m", input: `Write to ${MAIL}.`, stream: true };
    const text = await (await guarded(events(`About ${HIDDEN}`))).post("/responses", body);
    expect(text).toBe(sse(events(`About ${MAIL}`), "").join(""));
    await expect((await guarded(events("leaked"))).post("/responses", body)).rejects.toMatchObject(blocked);
  });

  it("of a chat is checked in fields that OpenAI does not define, in each chunk", async () => {
    const chunk = (content: string, title: string) => ({
      choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }],
      search_results: [{ title }],
    });
    const events = (title: string) => [chunk("", title), chunk("", title), chunk("", `${title} again`)];
    const text = await (await guarded(events(`Who ${HIDDEN} is`))).post("/chat/completions", streamed);
    expect(text).toBe(sse(events(`Who ${MAIL} is`), "").join(""));
    const wrong = guarded([chunk("", "Hi"), chunk("", "What was leaked")]);
    await expect((await wrong).post("/chat/completions", streamed)).rejects.toMatchObject(blocked);
  });

  it("cannot change prototypes", async () => {
    const piece = (call: string) => JSON.parse(`{"choices":[{"index":0,"delta":{"tool_calls":[${call}]}}]}`);
    const call = '{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}';
    const events = [
      piece(call),
      piece('{"index":0,"__proto__":{"polluted":{"a":1}},"function":{"__proto__":{"polluted":1}}}'),
    ];
    expect(await (await guarded(events)).post("/chat/completions", streamed)).toContain('"arguments":"{}"');
    expect({}).not.toHaveProperty("polluted");
  });
});
