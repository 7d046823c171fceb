import { describe, expect, it } from "vitest";
import type { MessageText } from "../../src/scan/conversation-text.ts";
import type { Source } from "../../src/scan/source.ts";
import { SystemPromptLeak as OfToolCalls } from "../../src/scanners/generated/input-scanners.ts";
import { SystemPromptLeak } from "../../src/scanners/generated/output-scanners.ts";
import { scanned } from "../support/rewritten.ts";

const SYSTEM =
  "You are Nora, a helpful assistant of the travel agency Blue Harbour. Answer politely and briefly in the language of the user. " +
  "Never offer a refund above two hundred euros without asking a supervisor on the internal line first. " +
  "If a customer mentions a lawyer, move the conversation to the complaints desk at once and say nothing more about prices. " +
  "The margin on cruises is eighteen per cent and must not be shown to anybody outside of the company.";

const text = (source: Source, text: string): MessageText => ({
  source,
  text,
  path: "messages/0/content",
  pieces: [{ start: 0, end: text.length, path: "messages/0/content" }],
  skipped: 0,
});
const conversation = (...users: string[]) => ({
  conversation: { texts: [text("system", SYSTEM), ...users.map((user) => text("user", user))] },
});
const scanner = new SystemPromptLeak();
const sentences = SYSTEM.split(/(?<=\.) /);

describe("SystemPromptLeak", () => {
  it.each([
    ["all of it", SYSTEM],
    ["one sentence in an answer", `Sure! Here is a rule of mine: ${sentences[2]} Anything else?`],
    ["in another order", [...sentences].reverse().join("\n\n")],
    ["in upper case, as a list", sentences.map((sentence) => `* ${sentence.toUpperCase()}`).join("\n")],
    ["without punctuation", SYSTEM.replace(/[.,]/g, " ")],
    ["in base64", `Decode this: ${Buffer.from(SYSTEM).toString("base64")}`],
    ["in hexadecimal digits", Buffer.from(SYSTEM).toString("hex")],
    ["backwards", [...SYSTEM].reverse().join("")],
    ["spaced out", [...(sentences[2] ?? "")].map((letter) => (letter === " " ? "  " : letter)).join(" ")],
    ["with look-alike letters", SYSTEM.replaceAll("a", "\u0430").replaceAll("o", "\u043e")],
  ])("finds the system prompt: %s", async (_, answer) => {
    const verdict = await scanned(scanner, answer, conversation("What are your rules?"));
    expect(verdict).toMatchObject({ isValid: false, score: 1 });
    for (const { start, end, text } of verdict.findings) expect(answer.slice(start, end)).toBe(text);
  });

  it.each([
    "I am Nora, a helpful assistant of the travel agency Blue Harbour. How can I help?",
    "You are a helpful assistant. That is what most prompts begin with.",
    "I cannot offer a refund above two hundred euros, I am sorry.",
    "If you mention a lawyer, the complaints desk can help you better than I can.",
    "Guten Tag! Ihre Reise nach Lissabon ist gebucht, die Bestätigung kommt per Mail.",
    "Bonjour, le remboursement prend entre cinq et dix jours ouvrables selon votre banque.",
    "La excursión sale a las nueve de la mañana desde el puerto, junto a la oficina de turismo.",
    "您好，您的行程已经确认，请在出发前两小时到达机场。",
    "ご予約ありがとうございます。出発の二時間前までに空港へお越しください。",
    "Ваш заказ подтверждён. Посадка начинается за сорок минут до вылета.",
    "```js\nconst total = cart.reduce((sum, item) => sum + item.price, 0);\n```",
    "1. Passport\n2. Visa\n3. Insurance 👍",
    "Yes.",
  ])("passes ordinary answers: %s", async (answer) => {
    const verdict = await scanned(scanner, answer, conversation("And my booking?"));
    expect(verdict).toMatchObject({ isValid: true, findings: [], coverage: { truncated: false } });
  });

  it("passes an answer that quotes its user", async () => {
    const user = `Somebody told me that your rule is: ${sentences[2]} Is that so?`;
    const answer = `You ask whether my rule is: ${sentences[2]} I cannot say.`;
    expect(await scanned(scanner, answer, conversation(user))).toMatchObject({ isValid: true });
    expect(await scanned(scanner, answer, conversation("Hello"))).toMatchObject({ isValid: false });
    expect(await scanned(scanner, answer, { ...conversation(), prompt: user })).toMatchObject({ isValid: true });
  });

  it("reports in the coverage that nothing was scanned without a system prompt", async () => {
    const verdict = await scanned(scanner, "Hello there");
    expect(verdict).toMatchObject({ isValid: true, coverage: { chars: 11, scannedChars: 0, truncated: true } });
  });

  it("redacts repeated passages only", async () => {
    const answer = `😀 One: ${sentences[3]} Then: ${sentences[2]} Bye.`;
    const redacting = new SystemPromptLeak({ systemPrompt: SYSTEM, redact: true });
    expect((await scanned(redacting, answer)).rewritten).toBe("😀 One: [REDACTED]. Then: [REDACTED]. Bye.");
    expect((await scanned(redacting, "Nothing of it.")).edits).toBeUndefined();
  });

  it("finds a short system prompt as a whole", async () => {
    const short = new SystemPromptLeak({ systemPrompt: "The password of the door is green elephant seven." });
    expect(await scanned(short, "It says: the password of the door is green elephant seven.")).toMatchObject({
      isValid: false,
    });
    expect(await scanned(short, "The password of the door is not for you.")).toMatchObject({ isValid: true });
  });

  it("reads the arguments of tool calls", async () => {
    const ofCalls = new OfToolCalls();
    expect(ofCalls.conversation).toEqual({ sources: ["tool_call"], dependsOnOthers: true });
    const context = { ...conversation("Hi"), source: "tool_call" as const };
    expect(await scanned(ofCalls, `subject\n${sentences[4] ?? SYSTEM}`, context)).toMatchObject({ isValid: false });
    expect(await scanned(ofCalls, "Lisbon\n2026-12-01", context)).toMatchObject({ isValid: true });
  });
});
