import { describe, expect, it } from "vitest";
import { JSON_TYPE, scannerOf, testServer, wordScanner } from "../fixtures.ts";

describe("the content of a request", () => {
  const CANARY = "CANARY-4711";
  const requests = [
    ["/analyze/prompt", JSON.stringify({ prompt: CANARY })],
    ["/analyze/prompt", `{"prompt": ${CANARY}`],
    ["/analyze/prompt", JSON.stringify({ prompt: [CANARY], scanners_suppress: CANARY })],
    ["/analyze/output", JSON.stringify({ prompt: CANARY, output: CANARY })],
    ["/analyze/conversation", JSON.stringify({ messages: [{ role: CANARY, content: CANARY }] })],
    ["/analyze/conversation", JSON.stringify({ messages: [{ role: "user", content: { [CANARY]: CANARY } }] })],
    [`/${CANARY}?q=${CANARY}`, "{}"],
    [`/analyze/prompt?q=${CANARY}`, JSON.stringify({ prompt: "x" })],
    [`/%${CANARY}`, "{}"],
  ] as const;

  it.each(requests)("%s %s is in no log and no error", async (url, payload) => {
    const input = [wordScanner(CANARY), scannerOf("Quoting", (text) => Promise.reject(new Error(text)))];
    const { post, log } = await testServer({ input, output: input });
    const reply = await post(url, payload, { ...JSON_TYPE, authorization: `Bearer ${CANARY}`, cookie: CANARY });
    expect(reply.statusCode).toBeGreaterThanOrEqual(400);
    expect(log.length).toBeGreaterThan(0);
    expect(log.join("")).not.toContain(CANARY);
    expect(reply.body).not.toContain(CANARY);
  });

  it("is in the log with log_content", async () => {
    const { post, log } = await testServer({ input: [wordScanner("x")] }, { app: { logContent: true } });
    await post("/analyze/prompt", { prompt: CANARY });
    expect(log.join("")).toContain(CANARY);
  });

  it("is identified by an id", async () => {
    const { post, log } = await testServer();
    const reply = await post("/analyze/prompt", {}, { "x-request-id": "my-id-1" });
    expect(reply.headers["x-request-id"]).toBe("my-id-1");
    expect(log.join("")).toContain('"reqId":"my-id-1"');
    const odd = await post("/analyze/prompt", {}, { "x-request-id": "no spaces" });
    expect(odd.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("is summarized in one line", async () => {
    const { post, log } = await testServer({ input: [wordScanner("x")] });
    await post("/scan/prompt", { prompt: "x" });
    const line = log.map((text) => JSON.parse(text)).find(({ msg }) => msg === "request");
    expect(line).toMatchObject({ method: "POST", route: "/scan/prompt", status: 200, valid: false, flagged: ["Word"] });
  });

  it("is logged as text with log_json: false", async () => {
    const { post, log } = await testServer({}, { app: { logJson: false } });
    await post("/scan/prompt", { prompt: "x" });
    expect(log.at(-1)).toMatch(/^\d{4}-\d\d-\d\dT\S+ INFO request \{.*"status":200.*\}\n$/);
  });
});
