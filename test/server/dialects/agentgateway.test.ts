import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ConfigInput } from "../../../src/config/index.ts";
import { passed } from "../../../src/scan/scanner.ts";
import { scannerOf, startServer, type TestServer, testServer } from "../fixtures.ts";

const CONFIG: ConfigInput = {
  dialects: ["agentgateway"],
  app: { lazyLoad: true, masking: ["Sensitive"] },
  inputScanners: [
    { type: "Anonymize" },
    { type: "Secrets" },
    { type: "BanSubstrings", params: { substrings: ["zebra"] } },
  ],
  outputScanners: [
    { type: "Sensitive", params: { redact: true } },
    { type: "BanSubstrings", params: { substrings: ["zebra"] } },
  ],
};

/** The server of all tests that need no other configuration. */
let server: TestServer;
beforeAll(async () => {
  server = await startServer({}, CONFIG);
});
afterAll(() => server.app.close());

/** How the gateway reads an answer: by the fields of the action, in this order, whatever the status. */
function readAs(answer: unknown): "mask" | "reject" | "pass" | "error" {
  const { action } = answer as { action?: { body?: unknown; status_code?: unknown } };
  if (typeof action !== "object") return "error";
  if (typeof action.body === "object") return "mask";
  if (typeof action.body === "string" && typeof action.status_code === "number") return "reject";
  return "pass";
}

/** Sends a request as the gateway does. */
async function acts(server: TestServer, path: string, body: object) {
  const reply = await server.post(path, { body });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json();
}

const ofRequest = (server: TestServer, ...messages: { role: string; content: string }[]) =>
  acts(server, "/request", { messages });
const ofAnswers = (server: TestServer, ...texts: string[]) =>
  acts(server, "/response", { choices: texts.map((content) => ({ message: { role: "assistant", content } })) });
const user = (content: string) => ({ role: "user", content });

describe("the guardrail webhook of agentgateway", () => {
  it("passes requests and answers", async () => {
    const conversation = [
      { role: "system", content: "You are a helpful assistant that answers briefly." },
      user("What is 2+3?"),
      { role: "assistant", content: "2+3 is 5." },
      user("And 4+4?"),
    ];
    const pass = { action: { reason: "No check failed." } };
    expect(await ofRequest(server, ...conversation)).toEqual(pass);
    expect(await ofAnswers(server, "The sum of 4 and 4 is 8.", "When you add 4 to 4, you get 8.")).toEqual(pass);
  });

  it("masks a request, and returns all messages in order with all their fields", async () => {
    const sent = [
      { role: "System", content: "Be kind." },
      { role: "User", content: "I am carol@example.org." },
      { role: "Assistant", content: "Hello." },
      { role: "User", content: "Write to dave@example.net and carol@example.org." },
    ];
    const answer = await ofRequest(server, ...sent);
    expect(readAs(answer)).toBe("mask");
    expect(answer.action.body.messages).toEqual([
      sent[0],
      { role: "User", content: "I am [REDACTED_EMAIL_ADDRESS_1]." },
      sent[2],
      { role: "User", content: "Write to [REDACTED_EMAIL_ADDRESS_2] and [REDACTED_EMAIL_ADDRESS_1]." },
    ]);
  });

  it("rejects a request with a banned word, whatever the role of its message", async () => {
    for (const role of ["user", "User", "human", "customer"]) {
      const answer = await ofRequest(server, { role: "system", content: "Be kind." }, { role, content: "A zebra." });
      expect(readAs(answer)).toBe("reject");
      const sentence = "The request was blocked by guard: BanSubstrings, BanSubstrings[window].";
      expect(answer).toEqual({ action: { body: sentence, status_code: 403, reason: sentence } });
    }
  });

  it("rejects one of several answers, and masks others", async () => {
    const rejected = await ofAnswers(server, "A horse.", "A zebra.");
    expect(readAs(rejected)).toBe("reject");
    expect(rejected.action.body).toBe("The answer was blocked by guard: BanSubstrings.");
    const masked = await ofAnswers(server, "A horse.", "Write to carol@example.org.");
    expect(readAs(masked)).toBe("mask");
    expect(masked.action.body.choices).toEqual([
      { message: { role: "assistant", content: "A horse." } },
      { message: { role: "assistant", content: expect.not.stringContaining("carol") } },
    ]);
  });

  it("reports that there was nothing to check", async () => {
    const nothing = { action: { reason: "There was no text to check." } };
    expect(await ofRequest(server)).toEqual(nothing);
    expect(await ofAnswers(server)).toEqual(nothing);
  });

  it("does not compare an answer with an unknown prompt", async () => {
    const comparing = scannerOf("Comparing", async () => Promise.reject(new Error("there is no prompt")), {
      comparesWithPrompt: true,
    });
    const server = await testServer({ output: [comparing] }, { dialects: ["agentgateway"] });
    expect(readAs(await ofAnswers(server, "A horse."))).toBe("pass");
    const strict = await testServer(
      { output: [comparing] },
      { dialects: ["agentgateway"], app: { requireFullCoverage: true } },
    );
    expect((await ofAnswers(strict, "A horse.")).action.body).toBe(
      "The answer was blocked by guard: incomplete coverage.",
    );
  });

  it("passes any text unchanged if nothing is found", async () => {
    const seen: string[] = [];
    const seeing = scannerOf("Seeing", async (text) => {
      seen.push(text);
      return passed(text);
    });
    const server = await testServer({ input: [seeing], output: [seeing] }, { dialects: ["agentgateway"] });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1 }), async (text) => {
        seen.length = 0;
        expect(readAs(await ofRequest(server, user(text)))).toBe("pass");
        expect(readAs(await ofAnswers(server, text))).toBe("pass");
        // The scanner read exactly what the gateway sends on.
        expect(new Set(seen)).toEqual(new Set([text]));
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ["/request", {}],
    ["/request", { body: {} }],
    ["/request", { body: { messages: "Hello" } }],
    ["/request", { body: { messages: [{ role: "user" }] } }],
    ["/request", { body: { messages: [{ role: "user", content: ["Hello"] }] } }],
    ["/request", { body: { messages: [{ role: "user", content: null }] } }],
    ["/response", { body: { messages: [] } }],
    ["/response", { body: { choices: [{ role: "assistant", content: "Hello" }] } }],
    ["/response", { body: { choices: [{ message: { role: "assistant", content: null } }] } }],
  ])("answers %s with %j with an error that the gateway cannot read as a pass", async (path, body) => {
    const reply = await server.post(path, body);
    expect(reply.statusCode).toBe(422);
    expect(readAs(reply.json())).toBe("error");
    expect(reply.json().errors[0].pointer).toMatch(/^\/body/);
  });

  it("fails if a scanner fails, and requires the credential", async () => {
    const broken = scannerOf("Broken", async () => Promise.reject(new Error("out of order")));
    const scanners = { input: [broken], output: [broken] };
    const server = await testServer(scanners, { dialects: ["agentgateway"] });
    for (const [path, body] of [
      ["/request", { messages: [user("Hello")] }],
      ["/response", { choices: [{ message: user("Hello") }] }],
    ] as const) {
      const reply = await server.post(path, { body });
      expect([reply.statusCode, readAs(reply.json())]).toEqual([500, "error"]);
    }
    const auth = [{ type: "api_key" as const, header: "x-guard-key", keys: ["a-key-of-some-length"] }];
    const closed = await testServer({}, { ...CONFIG, auth });
    const body = { body: { messages: [user("Hello")] } };
    const refused = await closed.post("/request", body);
    expect([refused.statusCode, readAs(refused.json())]).toEqual([401, "error"]);
    // The gateway forwards the client's headers that its configuration names.
    const taken = await closed.post("/request", body, { "x-guard-key": "a-key-of-some-length" });
    expect(readAs(taken.json())).toBe("pass");
  });
});

describe("the guardrail webhook of version 0.1.0", () => {
  it("replaces an answer, because the version cannot reject one", async () => {
    const server = await testServer({}, { ...CONFIG, dialects: ["kgateway"] });
    const answer = await ofAnswers(server, "A horse.", "A zebra.");
    expect(readAs(answer)).toBe("mask");
    expect(answer.action.body.choices).toEqual([
      { message: { role: "assistant", content: "A horse." } },
      { message: { role: "assistant", content: "The answer was blocked by guard: BanSubstrings." } },
    ]);
    expect(readAs(await ofRequest(server, user("A zebra.")))).toBe("reject");
    expect(readAs(await ofAnswers(server, "A horse."))).toBe("pass");
  });

  it("cannot be enabled with agentgateway, because both have the same paths", async () => {
    await expect(testServer({}, { ...CONFIG, dialects: ["agentgateway", "kgateway"] })).rejects.toMatchObject({
      path: "dialects.1",
      message: "dialects.1: kgateway and agentgateway have the same path /request: choose one of them",
    });
  });
});
