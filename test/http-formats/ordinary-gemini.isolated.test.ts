import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGuard } from "../../src/guard/create-guard.ts";
import type { Guard } from "../../src/guard/guard.ts";
import { guardedFetch } from "../../src/http-formats/guarded-fetch.ts";
import { sse } from "../support/upstream.ts";

const MODEL = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash";
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SIGNATURE = "CsUBAdHtim9lMWmGPvTz9hcb5tVHpYkUP4ETK6UJkPXlQ2h0Yl8b5b1TtzzpEJ1dMnwQ".repeat(6);

/** Questions with their answers. */
const TALKS: [question: string, answer: string][] = [
  [
    "What can I cook with leeks, eggs and half a loaf of bread?",
    "A leek strata: soak the bread in eggs, then bake it.",
  ],
  ["Wie lange muss ein Roggenbrot im Ofen bleiben?", "Etwa 50 Minuten bei 220 °C, danach noch zehn Minuten."],
  [
    "Explique-moi la photosynthèse en deux phrases.",
    "La plante transforme la lumière en sucre. L'oxygène est un reste.",
  ],
  ["¿Cuál es la diferencia entre «por» y «para»?", "«Por» indica causa; «para» indica finalidad."],
  ["Qual é a capital de Moçambique?", "Maputo."],
  ["Come si pota un ulivo giovane?", "Poco, a fine inverno, lasciando quattro rami principali."],
  ["Hoe laat gaat de zon onder in juni?", "In Utrecht rond tien uur 's avonds."],
  ["Jaka jest najdłuższa rzeka w Polsce?", "Wisła, około 1047 km."],
  ["Почему небо голубое?", "Потому что воздух сильнее рассеивает синий свет."],
  ["Як приготувати борщ без м'яса?", "Додайте гриби й квасолю замість м'яса."],
  ["Γιατί αλλάζουν οι εποχές;", "Επειδή ο άξονας της Γης είναι κεκλιμένος."],
  ["東京から京都まで新幹線で何時間かかりますか。", "「のぞみ」で約2時間15分です。"],
  ["请用三句话介绍一下杭州西湖。", "西湖位于杭州市区西部。湖上有苏堤和白堤。四季景色各不相同。"],
  ["김치찌개를 더 깊은 맛으로 끓이려면?", "묵은 김치를 먼저 볶고 쌀뜨물을 넣으세요."],
  ["كيف أتعلم العزف على العود؟", "ابدأ بالأوتار المفتوحة وتمرّن كل يوم."],
  ["איך מכינים חומוס חלק?", "מבשלים את הגרגרים עד שהם רכים מאוד."],
  ["मानसून कब शुरू होता है?", "केरल में आम तौर पर जून की शुरुआत में।"],
  ["ประเทศไทยมีกี่จังหวัด", "มี 76 จังหวัด และกรุงเทพมหานคร"],
  ["Bao nhiêu ngày thì hạt đậu nảy mầm?", "Khoảng bảy đến mười ngày."],
  ["Kuinka monta järveä Suomessa on?", "Noin 188 000."],
  ["Türk kahvesi nasıl pişirilir?", "Kısık ateşte, köpürene kadar."],
  [
    'Explain this:\n```rust\nfn main() { println!("{}", 7 / 2); }\n```',
    "Integers divide without a rest: it prints `3`.",
  ],
  ["Fix: SELECT name, COUNT(*) FROM orders WHERE total > 10;", "Add `GROUP BY name` at the end."],
  ["Why does `[1, 2, 10].sort()` give [1, 10, 2]?", "It compares strings. Use `.sort((a, b) => a - b)`."],
  ["| city | rain |\n| --- | --- |\n| Bergen | 240 mm |\nWhich unit is that?", "Millimetres of rain."],
  ["2026-03-01T08:15:04Z WARN pool: 14 of 16 connections in use", "The pool is nearly full, which is only a warning."],
  ["Write a haiku about a lighthouse 🌊", "Lamp above the foam,\nturning for the boats at night —\nnobody waves back."],
  [
    "“Stay where you are,” said the captain. Continue the story.",
    "“I was going nowhere,” said Mara, and put down the oar.",
  ],
  [
    "Is https://www.rfc-editor.org/rfc/rfc9110#section-8.3 about Content-Type?",
    "Yes, section 8.3 defines Content-Type.",
  ],
  ["Solve x² − 5x + 6 = 0.", "x = 2 or x = 3."],
];

const call = (name: string, args: object, more: object = {}) => ({ functionCall: { name, args }, ...more });
const result = (name: string, response: object) => ({ functionResponse: { name, response } });
const user = (...parts: object[]) => ({ role: "user", parts });
const model = (...parts: object[]) => ({ role: "model", parts });
const CITY = { type: "STRING", description: "A city with its country, such as Porto, Portugal" };
const WEATHER = {
  name: "get_current_weather",
  description: "Gets the weather of a city. Use it whenever somebody asks about the weather.",
  parameters: {
    type: "OBJECT",
    properties: { city: CITY, unit: { type: "STRING", enum: ["C", "F"] } },
    required: ["city"],
  },
};
const ASKED = user({ text: "How is the weather in Porto?" });

/** Requests with the features of the API. */
const REQUESTS: Record<string, unknown>[] = [
  { contents: [user({ text: "Describe the picture." }, { inlineData: { mimeType: "image/png", data: PIXEL } })] },
  { contents: [user({ inline_data: { mime_type: "image/png", data: PIXEL } }, { text: "Caption?" })] },
  {
    contents: [
      user(
        { text: "Summarize it." },
        {
          fileData: {
            mimeType: "video/mp4",
            fileUri: "https://generativelanguage.googleapis.com/v1beta/files/abc-123",
          },
          videoMetadata: { startOffset: "10s", fps: 1 },
        },
      ),
    ],
  },
  { contents: [{ parts: [{ text: "Hello" }] }] },
  { contents: { parts: { text: "Hello" } }, system_instruction: { parts: { text: "You are a friendly baker." } } },
  { contents: [ASKED], tools: [{ functionDeclarations: [WEATHER] }] },
  {
    contents: [ASKED],
    tools: [{ functionDeclarations: [WEATHER] }],
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["get_current_weather"] } },
  },
  {
    contents: [
      ASKED,
      model(call("get_current_weather", { city: "Porto, Portugal" }, { thoughtSignature: SIGNATURE })),
      user(result("get_current_weather", { temperature: 19.5, sky: "a few clouds", wind: { kmh: 12 } })),
    ],
    tools: [{ functionDeclarations: [WEATHER] }],
  },
  {
    contents: [
      ASKED,
      model(call("get_current_weather", { city: "Porto" }), call("get_current_weather", { city: "Braga" })),
      {
        role: "function",
        parts: [result("get_current_weather", { sky: "rain" }), result("get_current_weather", { error: "not found" })],
      },
    ],
    tools: [{ functionDeclarations: [WEATHER] }],
  },
  { contents: [ASKED], tools: [{ googleSearch: {} }, { urlContext: {} }] },
  { contents: [user({ text: "What is the sum of the first 50 primes?" })], tools: [{ codeExecution: {} }] },
  {
    contents: [
      user({ text: "What is 17 times 23?" }),
      model(
        { text: "I compute it." },
        { executableCode: { language: "PYTHON", code: "print(17 * 23)" } },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "391\n" } },
        { text: "It is 391." },
      ),
      user({ text: "And 18 times 23?" }),
    ],
  },
  {
    contents: [user({ text: "Extract the event: lunch with Kim on Friday." })],
    generationConfig: {
      responseMimeType: "application/json",
      responseSchema: {
        type: "OBJECT",
        properties: { name: { type: "STRING" }, day: { type: "STRING", enum: ["Monday", "Friday"] } },
      },
    },
  },
  {
    contents: [user({ text: "Positive or negative? I like it." })],
    generationConfig: {
      responseMimeType: "text/x.enum",
      responseSchema: { type: "STRING", enum: ["positive", "negative"] },
      stopSequences: ["\n\n"],
      temperature: 0,
      topK: 40,
      seed: 7,
    },
  },
  {
    contents: [user({ text: "Think about the trolley problem." })],
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } },
  },
  {
    contents: [user({ text: "Say hello cheerfully." })],
    generationConfig: {
      responseModalities: ["AUDIO"],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
    },
  },
  {
    contents: [user({ text: "Tell a fairy tale." })],
    safetySettings: [{ category: "HARM_CATEGORY_DANGEROUS_CONTENT", threshold: "BLOCK_ONLY_HIGH" }],
  },
  {
    contents: [user({ text: "Continue." })],
    cachedContent: "cachedContents/k3x9q2m7p1",
    labels: { team: "search", env: "prod" },
  },
  {
    contents: [
      user({ text: "Hi" }),
      model({ text: "Hello! How can I help?", thoughtSignature: SIGNATURE }),
      user({ text: "Tell me a joke." }),
    ],
  },
  { contents: [user({ text: "Hi" }), { role: "model" }, user({ text: "Are you there?" })] },
  {
    contents: [
      user(
        { text: "Transcribe this." },
        { inlineData: { mimeType: "audio/wav", data: "UklGRiQAAABXQVZFZm10IBAAAAABAAEA" } },
      ),
    ],
  },
];

const ask = (text: string) => ({
  contents: [user({ text })],
  systemInstruction: { parts: [{ text: "You are a helpful assistant. Answer briefly." }] },
  generationConfig: { temperature: 0.7, maxOutputTokens: 1024 },
});
const candidate = (parts: readonly object[], more: object = {}) => ({
  content: { parts, role: "model" },
  index: 0,
  ...more,
});
const FRAME = {
  usageMetadata: {
    promptTokenCount: 9,
    candidatesTokenCount: 12,
    totalTokenCount: 21,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 9 }],
  },
  modelVersion: "gemini-2.5-flash",
  responseId: "mAitaLmkHPPlz7IPvtfUqQ4",
};
const answerOf = (...parts: object[]) => ({ candidates: [candidate(parts, { finishReason: "STOP" })], ...FRAME });

const REDIRECT = `https://vertexaisearch.cloud.google.com/grounding-api-redirect/${"AUZIYQE7mZ3kq0v_".repeat(9)}==`;

/** Answers with the features of the API. */
const ANSWERS: object[] = [
  answerOf(call("get_current_weather", { city: "Porto, Portugal", unit: "C" }, { thoughtSignature: SIGNATURE })),
  answerOf({ text: "**Weighing the question**\n\nThey ask about trams.", thought: true }, { text: "It depends." }),
  answerOf(
    { executableCode: { language: "PYTHON", code: "total = sum(range(10))\nprint(f'{total=}')" } },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "total=45\n" } },
    { text: "The sum is 45." },
  ),
  answerOf({ text: "Here is the logo." }, { inlineData: { mimeType: "image/png", data: PIXEL.repeat(30) } }),
  { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, ...FRAME },
  { candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL", index: 0 }], ...FRAME },
  {
    candidates: [
      candidate([{ text: "Porto lies at the Douro." }], {
        finishReason: "STOP",
        avgLogprobs: -0.12,
        safetyRatings: [{ category: "HARM_CATEGORY_SEXUALLY_EXPLICIT", probability: "NEGLIGIBLE" }],
        urlContextMetadata: {
          urlMetadata: [
            { retrievedUrl: "https://example.org/porto", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" },
          ],
        },
        groundingMetadata: {
          webSearchQueries: ["which river flows through porto"],
          searchEntryPoint: {
            renderedContent: `<style>\n.chip { display: inline-block; color: #1f1f1f; }\n</style>\n<div class="container"><a class="chip" href="${REDIRECT}">which river flows through porto</a></div>\n`,
          },
          groundingChunks: [{ web: { uri: REDIRECT, title: "example.org", domain: "example.org" } }],
          groundingSupports: [
            { segment: { startIndex: 0, endIndex: 24, text: "Porto lies at the Douro." }, groundingChunkIndices: [0] },
          ],
        },
      }),
    ],
    ...FRAME,
  },
];

/** All calls: a request with an answer. */
const CALLS: [request: object, answer: object][] = [
  ...TALKS.map(([question, text]): [object, object] => [ask(question), answerOf({ text })]),
  ...REQUESTS.map((request): [object, object] => [request, answerOf({ text: "Fine." })]),
  ...ANSWERS.map((answer): [object, object] => [ask("How is it going?"), answer]),
];

describe("an ordinary call of Gemini, with the default configuration", () => {
  let guard: Guard;
  beforeAll(async () => {
    guard = await createGuard({ config: "scanners.yml" });
  }, 120_000);
  afterAll(() => guard?.close());

  /** Sends a request to a provider with one reply. @returns what was sent, and the reply as a text. */
  async function send(method: string, request: object, reply: Response) {
    const sent: unknown[] = [];
    const provider = async (_: unknown, { body }: RequestInit = {}) => {
      sent.push(body);
      return reply;
    };
    const call = guardedFetch(guard, { fetch: provider as typeof fetch, onBlocked: "respond" });
    const answer = await call(`${MODEL}:${method}`, { method: "POST", body: JSON.stringify(request) });
    return { sent, text: await answer.text() };
  }

  it.each(CALLS)("passes byte for byte: %j %j", async (request, answer) => {
    const given = JSON.stringify(answer);
    const { sent, text } = await send("generateContent", request, Response.json(answer));
    expect([sent, text]).toEqual([[JSON.stringify(request)], given]);
  });

  it.each(TALKS)("streams its whole text: %s", async (question, answer) => {
    const words = answer.match(/\S+\s*|\s+/g) ?? [];
    const events = words.map((text, index) => ({
      candidates: [candidate([{ text }], index === words.length - 1 ? { finishReason: "STOP" } : {})],
      ...FRAME,
    }));
    const reply = new Response(sse(events, "").join(""), { headers: { "content-type": "text/event-stream" } });
    const { sent, text } = await send("streamGenerateContent?alt=sse", ask(question), reply);
    expect(sent).toEqual([JSON.stringify(ask(question))]);
    const shown = text.split("\n\n").flatMap((block) => (block === "" ? [] : JSON.parse(block.slice(6)).candidates));
    expect(shown.flatMap(({ content }) => content.parts.map(({ text }: { text: string }) => text)).join("")).toBe(
      answer,
    );
    expect(shown.at(-1).finishReason).toBe("STOP");
  });
});
