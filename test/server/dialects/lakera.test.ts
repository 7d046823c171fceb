import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { passed, type Scanner, wholeText } from "../../../src/scan/scanner.ts";
import { scannerOf, type TestServer, testServer } from "../fixtures.ts";

const CONFIG: ConfigInput = {
  dialects: ["lakera"],
  app: { lazyLoad: true },
  inputScanners: [{ type: "Anonymize" }, { type: "BanSubstrings", params: { substrings: ["zebra"] } }],
  outputScanners: [{ type: "Sensitive" }, { type: "BanSubstrings", params: { substrings: ["giraffe"] } }],
};

type Answer = {
  flagged: boolean;
  metadata: { request_uuid: string };
  breakdown: { detector_type: string; detector_id: string; detected: boolean; result: string; message_id: number }[];
  payload: { start: number; end: number; text: string; detector_type: string; labels: string[]; message_id: number }[];
  dev_info?: unknown;
  results?: { detector_type: string; result: string }[];
};

async function asks(server: TestServer, body: object, path = "/v2/guard"): Promise<Answer> {
  const reply = await server.post(path, { breakdown: true, payload: true, ...body });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json();
}

const detected = ({ breakdown }: Answer) =>
  breakdown.flatMap(({ detected, detector_type, message_id }) => (detected ? [[detector_type, message_id]] : []));
const system = { role: "system", content: "Be kind." };
const user = (content: unknown) => ({ role: "user", content });

/** A scanner with a probability, which is in the text: `p=0.6`. */
const probable = (type: string, threshold = 0.5): Scanner =>
  scannerOf(type, async (text) => {
    const probability = Number(/p=([\d.]+)/.exec(text)?.[1] ?? 0);
    const isValid = probability <= threshold;
    return { isValid, score: isValid ? -0.5 : 0.5, probability, findings: [], coverage: wholeText(text) };
  });

describe("Lakera's API", () => {
  it("returns the verdict on messages, and details only on request", async () => {
    const server = await testServer({}, CONFIG);
    const reply = await server.post("/v2/guard", { messages: [user("A horse.")] });
    expect(reply.json()).toEqual({
      flagged: false,
      metadata: { request_uuid: expect.stringMatching(/^[\da-f-]{36}$/) },
    });
    expect(await asks(server, { messages: [user("A zebra.")], payload: false, breakdown: false })).toEqual({
      flagged: true,
      metadata: { request_uuid: expect.any(String) },
    });
    const { dev_info } = await asks(server, { messages: [user("A horse.")], dev_info: true });
    expect(dev_info).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  });

  it("names the content of findings of harm and toxicity", async () => {
    const finds = (scanner: string, ...found: [type: string, label: string][]): Scanner =>
      scannerOf(scanner, async (text) => {
        const findings = found.map(([type, label]) => ({ start: 0, end: text.length, type, score: 0.9, label }));
        return { isValid: false, score: 0.5, probability: 0.9, findings, coverage: wholeText(text) };
      });
    const labels = ["harmful", "violent_crimes", "sexual_content", "weapons"];
    const harm = finds(
      "HarmfulContent",
      ...labels.map((label): [string, string] => ["harm", label]),
      // With return_full_output.
      ...[...labels, "hate"].map((label): [string, string] => ["harm-score", label]),
    );
    const server = await testServer(
      { input: [harm, finds("Toxicity", ["toxicity", "threat"])] },
      { dialects: ["lakera"] },
    );
    const { breakdown } = await asks(server, { messages: [user("A horse.")] });
    const types = new Set(breakdown.map(({ detector_type }) => detector_type));
    const categories = ["sexual", "violence", "weapons"].map((name) => `moderated_content/${name}`);
    expect([...types].sort()).toEqual(["moderated_content", ...categories]);
  });

  it("lists the checks, and points at personal data in code points of its message", async () => {
    const server = await testServer({}, CONFIG);
    const answer = await asks(server, { messages: [system, user("😀 I am ann@example.org.")], project_id: "p1" });
    expect(detected(answer)).toEqual([["pii/email", 1]]);
    expect(answer.payload).toEqual([
      {
        start: 7,
        end: 22,
        text: "ann@example.org",
        detector_type: "pii/email",
        labels: ["EMAIL_ADDRESS"],
        message_id: 1,
      },
    ]);
    expect(answer.breakdown).toContainEqual({
      project_id: "p1",
      policy_id: "policy-guard",
      detector_id: "detector-BanSubstrings",
      detector_type: "guard/BanSubstrings",
      detected: false,
      result: "l5_unlikely",
      message_id: 1,
    });
  });

  it("adds another detector if the payload cannot mask a flagged message", async () => {
    const server = await testServer({}, CONFIG);
    const parts = await asks(server, { messages: [user([{ type: "text", text: "I am ann@example.org." }])] });
    expect(parts).toMatchObject({ flagged: true, payload: [] });
    expect(detected(parts)).toEqual([["guard/Anonymize", 0]]);
    const full = await testServer({}, { ...CONFIG, app: { lazyLoad: true, requireFullCoverage: true } });
    const image = { type: "image_url", image_url: { url: "https://example.org/a.png" } };
    const seen = await asks(full, { messages: [user([{ type: "text", text: "A cat." }, image])] });
    expect(seen.flagged).toBe(true);
    expect(detected(seen)).toEqual([["guard/coverage", 0]]);
  });

  it("judges the last message as an answer if its role is assistant", async () => {
    const server = await testServer({}, CONFIG);
    const asked = async (content: unknown) => {
      const answer = await asks(server, { messages: [user("Hi."), { role: "assistant", content }] });
      return [detected(answer), answer.payload.map(({ text, message_id }) => [text, message_id])];
    };
    expect(await asked("It is bob@example.org.")).toEqual([[["pii/email", 1]], [["bob@example.org", 1]]]);
    expect(await asked("A giraffe.")).toEqual([[["guard/BanSubstrings", 1]], [["giraffe", 1]]]);
    expect(await asked("A zebra.")).toEqual([[], []]);
    expect(await asked([{ type: "text", text: "A giraffe." }])).toEqual([[["guard/BanSubstrings", 1]], []]);
    expect(await asked(null)).toEqual([[], []]);
    const alone = await asks(server, { messages: [{ role: "assistant", content: "A giraffe." }] });
    expect(alone.flagged).toBe(true);
  });

  it("returns matches that do not overlap", async () => {
    const server = await testServer(
      {},
      {
        ...CONFIG,
        inputScanners: [
          { type: "Regex", params: { patterns: ["b+c"] } },
          { type: "Regex", params: { patterns: ["ab+", "d"] } },
        ],
      },
    );
    const { payload } = await asks(server, { messages: [user("-abbc-d")] });
    expect(payload.map(({ start, end, text }) => [start, end, text])).toEqual([
      [1, 5, "abbc"],
      [6, 7, "d"],
    ]);
  });

  it("returns the confidence of the checks without a verdict", async () => {
    const server = await testServer({ input: [probable("Neural")] }, { dialects: ["lakera"] });
    const level = async (content: string) => {
      const { results, flagged } = await asks(server, { messages: [user(content)] }, "/v2/guard/results");
      expect(flagged).toBeUndefined();
      return results?.map(({ detector_type, result }) => `${detector_type} ${result}`);
    };
    expect(await level("p=0.9")).toEqual(["guard/Neural l1_confident"]);
    expect(await level("p=0.7")).toEqual(["guard/Neural l2_very_likely"]);
    expect(await level("p=0.45")).toEqual(["guard/Neural l3_likely"]);
    expect(await level("p=0.2")).toEqual(["guard/Neural l4_less_likely"]);
    expect(await level("p=0.1")).toEqual(["guard/Neural l5_unlikely"]);
  });

  it("flags what a check could not judge, and rejects other shapes", async () => {
    const broken = scannerOf("Broken", async () => {
      throw new Error("a secret text");
    });
    const server = await testServer({ input: [broken] }, { dialects: ["lakera"] });
    const reply = await server.post("/v2/guard", { messages: [user("Hello.")] });
    expect(reply.statusCode).toBe(500);
    expect(reply.body).not.toContain("secret text");
    for (const body of [{}, { messages: [] }, { messages: "Hello." }, { messages: [user("Hi.")], payload: "yes" }]) {
      expect((await server.post("/v2/guard", body)).statusCode).toBe(422);
    }
  });

  it("flags no text in which nothing is found", async () => {
    const reading = scannerOf("Reading", async (text) => passed(text));
    const server = await testServer({ input: [reading], output: [reading] }, { dialects: ["lakera"] });
    const text = fc.string({ unit: "binary", maxLength: 30 }).filter((text) => text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom("user", "assistant", "system", "tool"), async (content, role) => {
        const answer = await asks(server, { messages: [{ role, content }] });
        expect(answer).toMatchObject({ flagged: false, payload: [] });
      }),
      { numRuns: 50 },
    );
  });
});
