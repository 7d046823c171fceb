import { describe, expect, it } from "vitest";
import { passed } from "../../../src/scan/scanner.ts";
import { scannerOf, testServer, wordScanner } from "../fixtures.ts";

const linesOf = (body: string) =>
  body
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("POST /scan/prompts and /scan/outputs", () => {
  it("judge each text by itself, and answer in order", async () => {
    // The first texts take longest.
    let turns = 40;
    const slow = scannerOf("Slow", async (text) => {
      turns -= 2;
      for (let left = turns; left > 0; left--) await new Promise(setImmediate);
      return passed(text);
    });
    const { post } = await testServer({ input: [slow, wordScanner("x")], output: [wordScanner("y")] });
    const prompts = Array.from({ length: 20 }, (_, index) => (index % 3 === 0 ? `x ${index}` : `ok ${index}`));
    const reply = await post("/scan/prompts", { prompts });
    expect([reply.statusCode, reply.headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
    const lines = linesOf(reply.body);
    expect(lines.map(({ index }) => index)).toEqual(prompts.map((_, index) => index));
    expect(lines.map(({ is_valid }) => is_valid)).toEqual(prompts.map((text) => !text.startsWith("x")));
    expect(lines[0]).toEqual({ index: 0, is_valid: false, scanners: { Slow: -1, Word: 1 } });

    const outputs = [{ prompt: "?", output: "y" }, { output: "fine" }];
    const answers = linesOf((await post("/scan/outputs", { outputs, details: true })).body);
    expect(answers.map(({ is_valid }) => is_valid)).toEqual([false, true]);
    expect(answers[0].findings.Word).toEqual([{ start: 0, end: 1, type: "word", text: "y", score: 1 }]);
  });

  it("continue after a text that cannot be judged, and report it in its line", async () => {
    const failing = scannerOf("Failing", async (text) => {
      if (text === "bad") throw new Error("secret reason");
      return passed(text);
    });
    const { post, get } = await testServer({ input: [failing] });
    const { body } = await post("/scan/prompts", { prompts: ["a", "bad", "b"] });
    expect(body).not.toContain("secret reason");
    expect(linesOf(body)).toMatchObject([
      { index: 0, is_valid: true },
      { index: 1, status: 500, detail: "The scanner Failing failed." },
      { index: 2, is_valid: true },
    ]);
    expect(linesOf(body)[1]).not.toHaveProperty("is_valid");
    expect((await get("/metrics")).body).toContain(
      'guard_scanner_verdicts_total{source="input",scanner="Failing",valid="true"} 2',
    );
  });

  it("wait for admission when too many scans run", async () => {
    const { post } = await testServer({ input: [wordScanner("x")] }, { app: { queueSize: 1 } });
    const lines = linesOf((await post("/scan/prompts", { prompts: ["a", "x", "b", "c", "x"] })).body);
    expect(lines.map(({ is_valid }) => is_valid)).toEqual([true, false, true, true, false]);
  });

  it.each([
    ["/scan/prompts", { prompts: [] }],
    ["/scan/prompts", { prompts: "x" }],
    ["/scan/prompts", { prompts: ["x", 1] }],
    ["/scan/prompts", { prompts: Array(1001).fill("x") }],
    ["/scan/outputs", { outputs: [{ prompt: "x" }] }],
    ["/scan/outputs", { outputs: ["x"] }],
  ])("reject at %s a body of the wrong shape: %j", async (url, body) => {
    const { post } = await testServer({ input: [wordScanner("x")] });
    expect((await post(url, body)).statusCode).toBe(422);
  });
});
