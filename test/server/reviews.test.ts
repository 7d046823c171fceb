import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { createServer } from "../../src/server/index.ts";
import { reviewingScanner, type TestServer, testServer } from "./fixtures.ts";

const TEXT = "Start again with the second recipe, p=0.7";

const auth: ConfigInput["auth"] = [
  { type: "http_bearer", name: "chat", token: "chat" },
  { type: "http_bearer", name: "desk", token: "desk", mayReview: true },
  { type: "http_bearer", name: "operator", token: "operator", mayAdminister: true, mayAddExceptions: true },
];
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const reviewServer = (config: ConfigInput = {}) =>
  testServer({ input: [reviewingScanner()], output: [reviewingScanner({ name: "Tone" })] }, config);

const scan = async ({ post }: TestServer, prompt = TEXT, headers = {}) =>
  (await post("/scan/prompt", { prompt, details: true }, headers)).json();
const list = async ({ get }: TestServer, headers = {}) => (await get("/reviews", headers)).json();
const decide = ({ post }: TestServer, id: string, decision: string, headers = {}) =>
  post(`/reviews/${id}`, { decision, reason: "about a recipe" }, headers);

describe("a text in review", () => {
  it("is held with an id, which is that of the text", async () => {
    const server = await reviewServer();
    const first = await scan(server);
    expect(first).toMatchObject({ is_valid: false, outcome: "review", reviews: [{ state: "pending" }] });
    expect(first.reviews[0].id).toMatch(/^rv-[0-9a-f]{24}$/);
    expect((await scan(server)).reviews).toEqual(first.reviews);
    expect((await scan(server, "Another one, p=0.7")).reviews[0].id).not.toBe(first.reviews[0].id);
    const brief = (await server.post("/scan/prompt", { prompt: TEXT })).json();
    expect(brief).toMatchObject({ in_review: ["PromptInjection"], reviews: first.reviews });
    const passed = await scan(server, "Fine, p=0.2");
    expect(passed).not.toHaveProperty("reviews");
    expect(passed).not.toHaveProperty("in_review");
  });

  it("is listed with what a person needs to know", async () => {
    const server = await reviewServer({ auth });
    await scan(server, TEXT, bearer("chat"));
    const { kept, pending, reviews } = await list(server, bearer("desk"));
    expect({ kept, pending }).toEqual({ kept: "memory", pending: 1 });
    expect(reviews).toMatchObject([
      {
        state: "pending",
        text: TEXT,
        scanner: "PromptInjection",
        probability: 0.7,
        source: "user",
        credential: "chat",
      },
    ]);
  });

  it("passes once it is approved, alone and in conversations, and nothing else does", async () => {
    const server = await reviewServer({ cache: { enabled: true } });
    const { reviews } = await scan(server);
    expect((await decide(server, reviews[0].id, "approve")).statusCode).toBe(204);
    expect(await scan(server)).toMatchObject({ is_valid: true, outcome: "passed" });
    const messages = [
      { role: "user", content: TEXT },
      { role: "assistant", content: "Gladly." },
      { role: "user", content: "Thank you." },
    ];
    const conversation = (await server.post("/scan/conversation", { messages, details: true })).json();
    expect(conversation).toMatchObject({ is_valid: true, outcome: "passed" });
    expect(await scan(server, `${TEXT} and more`)).toMatchObject({ outcome: "review" });
    expect((await list(server)).pending).toBe(1);
    const { exceptions } = (await server.get("/admin/exceptions")).json();
    expect(exceptions).toMatchObject([{ scanners: ["PromptInjection"], reason: "about a recipe" }]);
    expect(exceptions[0].expires > new Date(Date.now() + 29 * 86_400_000).toISOString()).toBe(true);
  });

  it("is blocked once it is rejected, until the review expires, and may be approved later", async () => {
    const server = await reviewServer({ cache: { enabled: true } });
    const { id } = (await scan(server)).reviews[0];
    await decide(server, id, "reject");
    const blocked = { is_valid: false, outcome: "blocked", reviews: [{ id, state: "rejected" }] };
    expect(await scan(server)).toMatchObject(blocked);
    expect(await list(server)).toMatchObject({
      pending: 0,
      reviews: [{ id, state: "rejected", reason: "about a recipe" }],
    });
    await decide(server, id, "approve");
    expect(await scan(server)).toMatchObject({ is_valid: true, outcome: "passed" });
    expect((await list(server)).reviews).toEqual([]);
  });

  it("is forgotten after its time", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const server = await reviewServer({ reviews: { expires: 60 } });
    const { id } = (await scan(server)).reviews[0];
    await decide(server, id, "reject");
    vi.setSystemTime(Date.now() + 61_000);
    expect((await list(server)).reviews).toEqual([]);
    expect((await decide(server, id, "approve")).statusCode).toBe(404);
    expect(await scan(server)).toMatchObject({ outcome: "review", reviews: [{ id, state: "pending" }] });
  });

  it("passes marked with app.review: pass, unless it was rejected", async () => {
    const server = await reviewServer({ app: { review: "pass" } });
    const { id } = (await scan(server)).reviews[0];
    expect(await scan(server)).toMatchObject({ is_valid: true, outcome: "review" });
    const documents = async () =>
      (await server.post("/scan/documents", { documents: [TEXT, "Fine."], source: "user", details: true })).json();
    expect(await documents()).toMatchObject({ is_valid: true, documents: [{ is_valid: true }, { is_valid: true }] });
    await decide(server, id, "reject");
    expect(await scan(server)).toMatchObject({ is_valid: false, outcome: "blocked" });
    expect(await documents()).toMatchObject({
      ...{ is_valid: false, outcome: "blocked", reviews: [{ id, state: "rejected" }] },
      documents: [{ is_valid: false }, { is_valid: true }],
    });
  });

  it("ends a stream, and has an id there too", async () => {
    const server = await reviewServer();
    const body = { prompt: "", output: ["It is fine. ", "But p=0.7 is said here. ", "And more of it follows."] };
    const reply = await server.post("/analyze/output/stream", body);
    const events = reply.body
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ event: "blocked", outcome: "review", reviews: [{ scanner: "Tone" }] });
  });

  it("is held without an id if it is too long for a person", async () => {
    const server = await reviewServer();
    const long = `${"word ".repeat(8000)} p=0.7`;
    const reply = await scan(server, long);
    expect(reply).toMatchObject({ is_valid: false, outcome: "review" });
    expect(reply).not.toHaveProperty("reviews");
  });

  it("drops the oldest of more than 1,000", async () => {
    const server = await reviewServer();
    const prompts = Array.from({ length: 1002 }, (_, index) => `Text ${index}, p=0.7`);
    await server.post("/scan/prompts", { prompts: prompts.slice(0, 900) });
    await server.post("/scan/prompts", { prompts: prompts.slice(900) });
    const { pending, reviews } = await list(server);
    expect([pending, reviews.length]).toEqual([1000, 100]);
    const metrics = (await server.get("/metrics")).body;
    expect(metrics).toContain('guard_reviews_total{scanner="PromptInjection",decision="dropped"} 2');
    expect(metrics).toContain("guard_reviews_pending 1000");
    expect(server.log.join("")).toContain("the oldest were dropped");
  });
});

describe("a decision", () => {
  it("needs the right may_review, which no other right includes", async () => {
    const server = await reviewServer({ auth });
    const { id } = (await scan(server, TEXT, bearer("chat"))).reviews[0];
    for (const token of ["chat", "operator"]) {
      expect((await server.get("/reviews", bearer(token))).statusCode).toBe(403);
      expect((await decide(server, id, "approve", bearer(token))).statusCode).toBe(403);
    }
    expect((await decide(server, id, "approve", bearer("desk"))).statusCode).toBe(204);
    expect((await server.get("/admin/exceptions", bearer("operator"))).json()).toMatchObject({
      exceptions: [{ created_by: "desk" }],
    });
  });

  it("is refused without a reason, with another word, and for an unknown id", async () => {
    const server = await reviewServer();
    const { id } = (await scan(server)).reviews[0];
    for (const body of [
      { decision: "approve" },
      { decision: "maybe", reason: "x" },
      { decision: "reject", reason: "" },
    ]) {
      expect((await server.post(`/reviews/${id}`, body)).statusCode).toBe(422);
    }
    expect((await decide(server, "rv-0", "approve")).statusCode).toBe(404);
  });

  it("is in the audit log and in the metrics, as are requests for one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "reviews-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "audit.jsonl");
    const server = await reviewServer({ auth, audit: { to: "file", file } });
    const { id } = (await scan(server, TEXT, bearer("chat"))).reviews[0];
    await decide(server, id, "reject", bearer("desk"));
    const records = (await readFile(file, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(records).toMatchObject([
      { event: "review_requested", credential: "chat", review: { id, scanner: "PromptInjection", source: "user" } },
      { outcome: "review", reviews: [id] },
      { event: "review_decided", credential: "desk", review: { id, decision: "reject", reason: "about a recipe" } },
    ]);
    expect(JSON.stringify(records)).not.toContain("second recipe");
    const metrics = (await server.get("/metrics", bearer("desk"))).body;
    expect(metrics).toContain('guard_reviews_total{scanner="PromptInjection",decision="requested"} 1');
    expect(metrics).toContain('guard_reviews_total{scanner="PromptInjection",decision="rejected"} 1');
    expect(metrics).toContain("guard_reviews_pending 0");
  });
});

describe("a server whose scanners ask for reviews", () => {
  it("says at the start that they are lost when it ends, and that nobody may decide", async () => {
    const { log } = await reviewServer({ auth: [{ type: "http_bearer", name: "chat", token: "chat" }] });
    expect(log.join("")).toContain("reviews: texts that wait for a review are kept in memory only");
    expect(log.join("")).toContain("app.review: no credential may decide about the texts that are held");
    const other = await testServer({ input: [reviewingScanner({ reviewThreshold: undefined })] });
    expect(other.log.join("")).not.toContain("review");
  });

  it("needs the key of exceptions for Redis", async () => {
    const config = { reviews: { redis: "redis://127.0.0.1:1" } };
    await expect(createServer({ config })).rejects.toThrow("GUARD_EXCEPTIONS_KEY: is required with reviews.redis");
  });
});

describe("a dialect", () => {
  const messages = [{ role: "user", content: TEXT }];
  it.each<[ConfigInput["dialects"], string, object, object]>([
    [
      ["litellm"],
      "/beta/litellm_basic_guardrail_api",
      { input_type: "request", texts: [TEXT], request_data: {} },
      {
        action: "BLOCKED",
        blocked_reason: expect.stringMatching(/until a person has approved it: PromptInjection.* \(review rv-/),
      },
    ],
    [
      ["lakera"],
      "/v2/guard",
      { messages, breakdown: true },
      { flagged: true, breakdown: [{ detector_id: "detector-PromptInjection", detected: true }, { detected: true }] },
    ],
    [
      ["openai"],
      "/v1/moderations",
      { input: TEXT },
      { results: [{ flagged: true, categories: { "guard/PromptInjection": true } }] },
    ],
    [
      ["fms"],
      "/api/v1/text/contents",
      { contents: [TEXT], detector_params: {} },
      [[{ detection_type: "failed_check", detection: "PromptInjection", score: 0.7 }]],
    ],
    [
      ["agentgateway"],
      "/request",
      { body: { messages } },
      { action: { status_code: 403, reason: expect.stringContaining("held by guard") } },
    ],
    [
      ["portkey"],
      "/portkey",
      { requestType: "chatComplete", eventType: "beforeRequestHook", request: { json: { model: "m", messages } } },
      { verdict: false, data: { outcome: "review" } },
    ],
  ])("%s treats a held text as a blocked one", async (dialects, url, body, expected) => {
    const server = await reviewServer({ dialects });
    expect((await server.post(url, body)).json()).toMatchObject(expected);
  });
});
