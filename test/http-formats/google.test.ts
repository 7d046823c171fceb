import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Guard } from "../../src/guard/guard.ts";
import { type GuardedFetchOptions, guardedFetch } from "../../src/http-formats/guarded-fetch.ts";
import { exampleGuard } from "../support/example-guard.ts";
import { sse } from "../support/upstream.ts";

const MAIL = "ann@example.com";
const HIDDEN = "[REDACTED_EMAIL_ADDRESS_1]";
const BASE = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash";
const VERTEX =
  "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro";

/** Replaces the address in a body by the placeholder that is sent. */
function swapped<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replaceAll(MAIL, HIDDEN));
}

type Options = GuardedFetchOptions & { guard?: Guard };

/** A guarded fetch with a scripted provider, and the bodies that the provider received. */
async function guarded(reply: () => Response, { guard, ...options }: Options = {}) {
  const sent: string[] = [];
  const send = async (_: unknown, init: RequestInit = {}) => {
    sent.push(init.body as string);
    return reply();
  };
  const call = guardedFetch(guard ?? (await exampleGuard()), {
    fetch: send as typeof fetch,
    onBlocked: "respond",
    ...options,
  });
  const post = (url: string, body: unknown) =>
    call(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return { post, sent, call };
}

const TEXT = `Write to ${MAIL}.`;
const ask = (text: string) => ({ contents: [{ role: "user", parts: [{ text }] }] });
const answer = (...parts: object[]) => ({
  candidates: [{ content: { parts, role: "model" }, finishReason: "STOP", index: 0 }],
  usageMetadata: {
    promptTokenCount: 4,
    totalTokenCount: 9,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 4 }],
  },
  modelVersion: "gemini-2.5-flash",
  responseId: "mAitaLmkHPPlz7IPvtfUqQ4",
});

const REQUEST = {
  systemInstruction: { parts: [{ text: `You answer for ${MAIL}.` }] },
  contents: [
    { role: "user", parts: [{ text: TEXT }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }] },
    {
      role: "model",
      parts: [{ functionCall: { name: "find_mail", args: { to: MAIL, limit: 3 } }, thoughtSignature: "CpQBAbc=" }],
    },
    { role: "user", parts: [{ functionResponse: { name: "find_mail", response: { result: `From ${MAIL}` } } }] },
  ],
  tools: [
    { functionDeclarations: [{ name: "find_mail", description: `As ${MAIL} does`, parameters: { type: "OBJECT" } }] },
  ],
  generationConfig: { temperature: 0.4, responseSchema: { type: "STRING", description: `Not ${MAIL}` } },
  safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
};

const FULL_ANSWER = {
  candidates: [
    {
      content: {
        role: "model",
        parts: [
          { text: `They mean ${MAIL}.`, thought: true },
          { text: TEXT, thoughtSignature: "Cq0BVKhc7jYx4bmN" },
          { functionCall: { id: "1", name: "send_mail", args: { to: MAIL, urgent: false } } },
          { executableCode: { language: "PYTHON", code: `print("${MAIL}")` } },
          { codeExecutionResult: { outcome: "OUTCOME_OK", output: `${MAIL}\n` } },
        ],
      },
      finishReason: "STOP",
      safetyRatings: [{ category: "HARM_CATEGORY_SEXUALLY_EXPLICIT", probability: "NEGLIGIBLE" }],
      citationMetadata: { citationSources: [{ uri: "https://example.org/a", title: `By ${MAIL}` }] },
      groundingMetadata: { groundingSupports: [{ segment: { endIndex: 25, text: TEXT }, groundingChunkIndices: [0] }] },
      index: 0,
    },
  ],
  modelVersion: "gemini-2.5-flash",
};

const BLOCKED = {
  error: { code: 403, message: "The answer was blocked by guard: BanSubstrings.", status: "PERMISSION_DENIED" },
};

describe("a call of Gemini", () => {
  it.each([`${BASE}:generateContent`, `${VERTEX}:generateContent`, `${BASE.replace("v1beta", "v1")}:generateContent`])(
    "is masked and restored in all its texts: %s",
    async (url) => {
      const { post, sent } = await guarded(() => Response.json(swapped(FULL_ANSWER)));
      const reply = await post(url, REQUEST);
      expect(sent).toEqual([JSON.stringify(swapped(REQUEST))]);
      expect(await reply.json()).toEqual(FULL_ANSWER);
    },
  );

  it("is read in snake case, and with a part or tool in place of a list", async () => {
    const request = {
      system_instruction: { parts: { text: TEXT } },
      contents: { parts: { text: TEXT } },
      tools: { function_declarations: [{ name: "f", description: TEXT }] },
    };
    const { post, sent } = await guarded(() => Response.json(answer({ text: "Fine." })));
    await post(`${BASE}:generateContent`, request);
    expect(sent).toEqual([JSON.stringify(swapped(request))]);
    const bad = await post(`${BASE}:generateContent`, { contents: { parts: { text: "forbidden" } } });
    expect(bad.status).toBe(403);
    expect(sent).toHaveLength(1);
  });

  it.each([
    ["text", ask("forbidden")],
    [
      "result of a tool",
      { contents: [{ parts: [{ functionResponse: { name: "f", response: { a: "forbidden" } } }] }] },
    ],
  ])("is refused with Google's error for a blocked %s", async (_, body) => {
    const { post, sent } = await guarded(() => Response.json(answer({ text: "Fine." })));
    for (const method of ["generateContent", "streamGenerateContent?alt=sse", "countTokens"]) {
      const reply = await post(`${BASE}:${method}`, body);
      const message = expect.stringContaining("The request was blocked by guard: BanSubstrings");
      const error = { code: 403, message, status: "PERMISSION_DENIED" };
      expect([reply.status, await reply.json()]).toEqual([403, { error }]);
    }
    expect(sent).toEqual([]);
  });

  it.each([
    [{ text: "leaked" }],
    [{ text: "leaked", thought: true }],
    [{ functionCall: { name: "f", args: { a: "leaked forbidden" } } }],
    [{ executableCode: { language: "PYTHON", code: "print('leaked forbidden')" } }],
    [{ codeExecutionResult: { outcome: "OUTCOME_OK", output: "leaked" } }],
    [{ text: "Fine.", caption: "This was leaked." }],
  ])("has a blocked answer replaced by Google's error: %j", async (part) => {
    const url = `${BASE}:generateContent`;
    const { post } = await guarded(() => Response.json(answer({ text: "Yes." }, part)));
    const reply = await post(url, ask("Hi"));
    expect([reply.status, await reply.json()]).toMatchObject([403, { error: { status: "PERMISSION_DENIED" } }]);
    const throwing = await guarded(() => Response.json(answer(part)), { onBlocked: "throw" });
    await expect((await throwing.post(url, ask("Hi"))).json()).rejects.toMatchObject({ code: "GUARD_BLOCKED" });
    const told = await guarded(() => Response.json(answer(part)), { onBlocked: () => "I can't say that." });
    expect(await (await told.post(url, ask("Hi"))).json()).toEqual({
      ...answer(),
      candidates: [
        {
          index: 0,
          content: { role: "model", parts: [{ text: "I can't say that." }] },
          finishReason: "PROHIBITED_CONTENT",
        },
      ],
    });
  });

  it("gets errors in Google's form where guard cannot read", async () => {
    const { post, sent } = await guarded(() => Response.json({ text: "leaked" }));
    const cases: [object, number, string][] = [
      [{ contents: "Hi" }, 400, "INVALID_ARGUMENT"],
      [{ contents: [{ role: "pirate", parts: [{ text: "Hi" }] }] }, 400, "INVALID_ARGUMENT"],
      [{ contents: [{ role: "user", parts: [{ text: 5 }] }] }, 400, "INVALID_ARGUMENT"],
      [{ ...ask("Hi"), input_ids: [1, 2] }, 400, "INVALID_ARGUMENT"],
      [ask("Hi"), 502, "UNAVAILABLE"],
    ];
    for (const [body, code, status] of cases) {
      const reply = await post(`${BASE}:generateContent`, body);
      expect([reply.status, await reply.json()]).toMatchObject([code, { error: { code, status } }]);
    }
    expect(sent).toHaveLength(1);
  });

  it("passes an answer without candidates, and answers with images", async () => {
    const answers = [
      { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 4 } },
      answer({ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo".repeat(200) } }),
    ];
    for (const given of answers) {
      const { post } = await guarded(() => Response.json(given));
      expect(await (await post(`${BASE}:generateContent`, ask("Hi"))).json()).toEqual(given);
    }
  });

  it.each([
    ["countTokens", { ...REQUEST }],
    ["countTokens", { generateContentRequest: { model: "models/gemini-2.5-flash", ...ask(TEXT), ...REQUEST } }],
    ["embedContent", { content: TEXT }],
    ["embedContent", { content: { parts: [{ text: TEXT }] }, taskType: "RETRIEVAL_DOCUMENT", title: `Of ${MAIL}` }],
    [
      "batchEmbedContents",
      {
        requests: ["a", "b"].map((name) => ({
          model: "models/gemini-embedding-001",
          title: `${name} ${MAIL}`,
          content: { parts: [{ text: TEXT }] },
        })),
      },
    ],
  ])("has its texts masked and its answer passed: %s", async (method, request) => {
    const reply = { embedding: { values: [0.013168523] }, totalTokens: 31 };
    const { post, sent } = await guarded(() => Response.json(reply));
    expect(await (await post(`${BASE}:${method}`, request)).json()).toEqual(reply);
    expect(sent).toEqual([JSON.stringify(swapped(request))]);
    const bad = JSON.parse(JSON.stringify(request).replaceAll("Write to", "A forbidden text for"));
    expect((await post(`${BASE}:${method}`, bad)).status).toBe(403);
  });

  it("counts the tokens of one request only", async () => {
    const { post, sent } = await guarded(() => Response.json({ totalTokens: 1 }));
    const reply = await post(`${BASE}:countTokens`, { generateContentRequest: ask("Hi"), ...ask("forbidden") });
    expect([reply.status, sent]).toEqual([400, []]);
  });

  it("is not taken for another path", async () => {
    const { post, sent } = await guarded(() => Response.json({}));
    for (const path of [":batchGenerateContent", ":predict", ":generateContentX", "/generateContent"]) {
      expect((await post(BASE + path, ask("Hi"))).status).toBe(400);
    }
    expect(sent).toEqual([]);
  });
});

/** The two forms of a stream: server-sent events, and a JSON array. */
const FORMS = [
  {
    url: `${BASE}:streamGenerateContent?alt=sse`,
    type: "text/event-stream",
    write: (events: readonly object[]) => sse(events, "").join(""),
    read: (text: string) =>
      text
        .split("\n\n")
        .filter((block) => block !== "")
        .map((block) => JSON.parse(block.replace(/^data: /, ""))),
  },
  {
    url: `${BASE}:streamGenerateContent`,
    type: "application/json; charset=UTF-8",
    write: (events: readonly object[]) =>
      `[${events.map((event) => JSON.stringify(event, null, 2)).join("\n,\r\n")}\n]`,
    read: (text: string) => JSON.parse(text),
  },
];

// biome-ignore lint/suspicious/noExplicitAny: events have any shape.
const partsOf = (events: any[]): any[] =>
  events.flatMap(({ candidates = [] }) => candidates).flatMap(({ content }) => content?.parts ?? []);
// biome-ignore lint/suspicious/noExplicitAny: events have any shape.
const textOf = (events: any[]) =>
  partsOf(events)
    .filter(({ thought }) => !thought)
    .map(({ text = "" }) => text)
    .join("");

describe.each(FORMS)("a stream of Gemini: $url", ({ url, type, write, read }) => {
  const event = (...parts: object[]) => ({
    candidates: [{ content: { parts, role: "model" }, index: 0 }],
    usageMetadata: { promptTokenCount: 4 },
    modelVersion: "gemini-2.5-flash",
  });
  const last = (...parts: object[]) => ({
    ...event(...parts),
    candidates: [{ content: { parts, role: "model" }, finishReason: "STOP", index: 0 }],
  });

  /** Asks for a stream, whose bytes arrive in pieces. */
  async function stream(events: readonly object[], options: Options & { cuts?: readonly number[] } = {}) {
    const { cuts = [], ...rest } = options;
    const bytes = new TextEncoder().encode(write(events));
    const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
    const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end));
    const reply = () => new Response(ReadableStream.from(pieces), { headers: { "content-type": type } });
    const { post } = await guarded(reply, rest);
    return post(url, ask(MAIL));
  }

  it("restores a text across events, in any pieces", async () => {
    const guard = await exampleGuard();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 12 }), async (cuts) => {
        const events = [
          event({ text: 'Ich schrieb "an" [REDAC' }),
          event({ text: "TED_EMAIL_ADDR" }),
          event({ text: "ESS_1], {siehe} 数据 \\ " }),
          last({ text: "und an niemanden sonst." }),
        ];
        const reply = await stream(events, { guard, cuts });
        expect(reply.headers.get("content-type")).toBe(type);
        const shown = read(await reply.text());
        expect(textOf(shown)).toBe(`Ich schrieb "an" ${MAIL}, {siehe} 数据 \\ und an niemanden sonst.`);
        expect(shown.at(-1)).toMatchObject({ ...last(), candidates: [{ finishReason: "STOP" }] });
      }),
      { numRuns: 25 },
    );
  });

  it("keeps the order of thoughts, texts, code and calls", async () => {
    const parts = [
      { text: `They mean ${MAIL}`, thought: true },
      { text: TEXT },
      { executableCode: { language: "PYTHON", code: `print("${MAIL}")` } },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: MAIL } },
      { text: `So it is ${MAIL}` },
      { functionCall: { name: "send_mail", args: { to: MAIL } }, thoughtSignature: "CpQBAbc=" },
    ];
    const shapes = [[last(...swapped(parts))], [...swapped(parts).map((part) => event(part)), last({ text: "" })]];
    for (const events of shapes) {
      const shown = partsOf(read(await (await stream(events)).text()));
      const joined: Record<string, unknown>[] = [];
      for (const part of shown.filter(({ text }) => text !== "")) {
        const before = joined.at(-1);
        const goesOn = part.text !== undefined && before?.text !== undefined && before.thought === part.thought;
        if (goesOn) before.text += part.text;
        else joined.push(part);
      }
      expect(joined).toEqual(parts);
    }
  });

  it("ends at a blocked text with the reason and Google's error", async () => {
    const events = [event({ text: "This is fine. It was lea" }), event({ text: "ked and" }), last({ text: " more." })];
    const reply = await stream(events);
    const text = await reply.text();
    expect(text).not.toMatch(/leaked|more/);
    const shown = read(text);
    expect("This is fine. It was ".startsWith(textOf(shown))).toBe(true);
    const { message } = BLOCKED.error;
    expect(shown.slice(-2)).toEqual([
      {
        candidates: [{ index: 0, finishReason: "PROHIBITED_CONTENT", finishMessage: message }],
        modelVersion: "gemini-2.5-flash",
      },
      BLOCKED,
    ]);
    await expect((await stream(events, { onBlocked: "throw" })).text()).rejects.toMatchObject({
      code: "GUARD_BLOCKED",
    });
  });

  it("ends at a blocked call, and shows a replacement", async () => {
    const events = [
      event({ text: "I call. " }),
      last({ functionCall: { name: "f", args: { a: "forbidden leaked" } } }),
    ];
    const text = await (await stream(events, { onBlocked: () => "No." })).text();
    expect(text).not.toContain("leaked");
    const shown = read(text);
    expect(["No.", "I call. No."]).toContain(textOf(shown));
    expect(shown.at(-1).candidates[0].finishReason).toBe("PROHIBITED_CONTENT");
    const refused = await guarded(() => Response.json({}), { onBlocked: () => "No." });
    const reply = await refused.post(url, ask("forbidden"));
    expect(reply.headers.get("content-type")).toBe(type.split(";")[0]);
    expect(textOf(read(await reply.text()))).toBe("No.");
  });

  it("is refused where it cannot be read", async () => {
    for (const events of [
      [event({ text: "Fine." }), { text: "leaked" }],
      [event({ text: "Fine." }), { candidates: [{ content: { parts: ["leaked"] } }] }],
      [event({ text: "Fine." }), { candidates: [{ content: { parts: "leaked" } }] }],
      [event({ text: "Fine." }), event({ functionCall: "leaked" })],
      [last({ functionCall: { name: "f", partialArgs: [{ jsonPath: "$.a", stringValue: "leaked" }] } })],
    ]) {
      const shown = read(await (await stream(events)).text());
      expect(shown.at(-1)).toMatchObject({ error: { code: 502, status: "UNAVAILABLE" } });
      expect(JSON.stringify(shown)).not.toContain("leaked");
    }
  });

  it("passes an error of the upstream", async () => {
    const error = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
    const shown = read(await (await stream([event({ text: "Fine. " }), error])).text());
    expect(textOf(shown)).toBe("Fine. ");
    expect(shown).toContainEqual(error);
  });
});

describe("a stream of Gemini", () => {
  it("passes an error without the names of fields", async () => {
    const error = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
    const text = `${sse([answer({ text: "Fine." })], "").join("")}${JSON.stringify(error, null, 2)}\n`;
    const reply = () => new Response(text, { headers: { "content-type": "text/event-stream" } });
    const { post } = await guarded(reply);
    const shown = await (await post(`${BASE}:streamGenerateContent?alt=sse`, ask("Hi"))).text();
    expect(JSON.parse(shown.slice(shown.lastIndexOf("\n\n")))).toEqual(error);
  });

  it.each(["{}", '"leaked"', "[1]", '["leaked"]', '[{"candidates":[]}', '[{}] "leaked"', "leaked", '[{"a":"leaked"'])(
    "is an error if it is not a list: %s",
    async (body) => {
      const reply = () => new Response(body, { headers: { "content-type": "application/json" } });
      const { post } = await guarded(reply);
      const shown = await (await post(`${BASE}:streamGenerateContent`, ask("Hi"))).text();
      expect(JSON.parse(shown).at(-1)).toMatchObject({ error: { code: 502, status: "UNAVAILABLE" } });
      expect(shown).not.toContain("leaked");
    },
  );
});
