import { describe, expect, it } from "vitest";
import { CONVERSATION_RISK } from "../../src/scan/report.ts";
import { passed, type Scanner } from "../../src/scan/scanner.ts";
import {
  Anonymize,
  BanSubstrings,
  PromptInjection,
  Regex,
  Secrets,
} from "../../src/scanners/generated/input-scanners.ts";
import { JSON as JSONScanner } from "../../src/scanners/generated/output-scanners.ts";
import { GuardValidationError } from "../../src/support/errors.ts";
import { serviceWith } from "../support/service.ts";

const substrings = (word: string, options: object = {}) => new BanSubstrings({ substrings: [word], ...options });
const chat = (content: string) => ({ messages: [{ role: "user", content }] });

/** The outcome for a text. */
async function outcome(input: Scanner[], text: string, more: Parameters<typeof serviceWith>[1] = {}): Promise<string> {
  const { service, request } = await serviceWith({ input }, more);
  const [ofPrompt, ofChat] = [await service.prompt(text, request()), await service.conversation(chat(text), request())];
  expect(ofChat.outcome).toBe(ofPrompt.outcome);
  return ofPrompt.outcome;
}

describe("the outcome of a scan", () => {
  it("is passed if every check passes", async () => {
    expect(await outcome([new Anonymize(), new Secrets()], "The meeting is at noon.")).toBe("passed");
    expect(await outcome([], "Anything at all.")).toBe("passed");
  });

  it("is masked if placeholders of a vault replace every finding", async () => {
    expect(await outcome([new Anonymize()], "Write to ann@example.org.")).toBe("masked");
  });

  it("is blocked if a scanner rewrites the text but its name is not in the option masking", async () => {
    const text = 'password = "Tr0ub4dor&3x9"';
    expect(await outcome([new Secrets()], text)).toBe("blocked");
    expect(await outcome([new Secrets()], text, { masking: ["Secrets"] })).toBe("masked");
    expect(await outcome([new Secrets({ name: "Keys" })], text, { masking: ["Keys"] })).toBe("masked");
  });

  it("is blocked by one check that does not remove its findings", async () => {
    const scanners = [new Anonymize(), substrings("zebra")];
    expect(await outcome(scanners, "The zebra is ann@example.org.")).toBe("blocked");
    expect(await outcome(scanners, "The horse is ann@example.org.")).toBe("masked");
  });

  it("is masked in the window only if the scanner removed the finding from a message", async () => {
    const scanners = [substrings("zebra crossing", { redactAll: true })];
    const { service, request } = await serviceWith({ input: scanners }, { masking: ["BanSubstrings"] });
    const of = async (...contents: string[]) =>
      (await service.conversation({ messages: contents.map((content) => ({ role: "user", content })) }, request()))
        .outcome;
    expect(await of("The zebra crossing", "is there.")).toBe("masked");
    // The line break between messages counts as a blank only if the scanner looks for a line break.
    const split = [substrings("zebra\ncrossing", { redactAll: true })];
    const other = await serviceWith({ input: split }, { masking: ["BanSubstrings"] });
    const messages = ["The zebra", "crossing is there."].map((content) => ({ role: "user", content }));
    expect((await other.service.conversation({ messages }, other.request())).outcome).toBe("blocked");
  });

  it("is blocked if several messages together contain more than was removed from each", async () => {
    const substrings = ["zebra crossing", "zebra\ncrossing"];
    const scanners = [new BanSubstrings({ substrings, redactAll: true })];
    const { service, request } = await serviceWith({ input: scanners }, { masking: ["BanSubstrings"] });
    const of = async (...contents: string[]) =>
      (await service.conversation({ messages: contents.map((content) => ({ role: "user", content })) }, request()))
        .outcome;
    expect(await of("A zebra crossing.", "It is there.")).toBe("masked");
    expect(await of("A zebra crossing. A zebra", "crossing is there.")).toBe("blocked");
  });

  it("is masked if a scanner removed a finding across several strings", async () => {
    const scanners = [new Regex({ patterns: ["zebra\\s+crossing"], matchType: "all" })];
    const conversation = { window: 1, scanToolMessages: true, scan: { tool: ["Regex"] }, risk: { enabled: false } };
    const { service, request } = await serviceWith({ input: scanners }, { masking: ["Regex"], conversation });
    const of = async (result: unknown) => {
      const call = { id: "1", type: "function", function: { name: "look", arguments: "{}" } };
      const messages = [
        { role: "user", content: "Look." },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "1", content: JSON.stringify(result) },
      ];
      return (await service.conversation({ messages }, request())).outcome;
    };
    expect(await of({ a: "A zebra crossing", b: "over there" })).toBe("masked");
    expect(await of({ a: "A zebra crossing. A zebra", b: "crossing over there" })).toBe("masked");
  });

  it("is blocked if a scanner of the other side removes what this one only finds", async () => {
    const lists = { input: [substrings("zebra", { redactAll: true })], output: [substrings("zebra")] };
    const { service, request } = await serviceWith(lists, { masking: ["BanSubstrings"] });
    const report = await service.output("", "The zebra is here.", request());
    expect(report).toMatchObject({ outcome: "blocked", text: "The zebra is here." });
    expect((await service.prompt("The zebra is here.", request())).outcome).toBe("masked");
  });

  it("is blocked if a masking scanner left the text unchanged", async () => {
    const failing = (change: (text: string) => string): Scanner => ({
      type: "Own",
      name: "Own",
      sanitizes: true,
      scan: async (text) => ({ ...passed(text), isValid: false, score: 1, sanitized: change(text) }),
    });
    const masking = { masking: ["Own"] };
    expect(await outcome([failing((text) => text)], "Hello", masking)).toBe("blocked");
    expect(await outcome([failing((text) => `${text}!`)], "Hello", masking)).toBe("masked");
    // The second call uses the cached verdict of the message.
    const { service, request } = await serviceWith({ input: [failing((text) => text)] }, masking);
    for (let turn = 0; turn < 2; turn++) {
      expect((await service.conversation(chat("Hello"), request())).outcome).toBe("blocked");
    }
  });

  it("is blocked if the text is only judged, because nothing is removed", async () => {
    const { service, request } = await serviceWith({ input: [new Anonymize()] });
    const report = await service.prompt("Write to ann@example.org.", request({ rewrite: false }));
    expect(report).toMatchObject({ outcome: "blocked", text: "Write to ann@example.org." });
  });

  it("is blocked if a scanner threw, whatever it could have removed", async () => {
    const broken: Scanner = {
      type: "Broken",
      name: "Broken",
      sanitizes: true,
      vaultScope: "call",
      scan: () => Promise.reject(new Error("no")),
    };
    expect(await outcome([broken], "text", { onScannerError: "block" })).toBe("blocked");
  });

  it("is blocked if something was not scanned and full coverage is required", async () => {
    const { service, request } = await serviceWith({ input: [new Anonymize()] }, { requireFullCoverage: true });
    const image = { type: "image_url", image_url: { url: "https://example.org/a.png" } };
    const content = [{ type: "text", text: "Write to ann@example.org." }, image];
    const report = await service.conversation({ messages: [{ role: "user", content }] }, request());
    expect(report).toMatchObject({ outcome: "blocked", isValid: false });
  });

  it("is blocked by the accumulated risk and by failures in answered messages", async () => {
    const scanners = [new PromptInjection({ classifier: async () => 0.8 })];
    const { service, request } = await serviceWith(
      { input: scanners },
      { conversation: { window: 1, scanToolMessages: true, risk: { enabled: true } } },
    );
    const messages = ["one thing", "another thing"].map((content) => ({ role: "user", content }));
    const report = await service.conversation({ messages }, request());
    expect(report.resultsValid[CONVERSATION_RISK]).toBe(false);
    expect(report.outcome).toBe("blocked");
  });

  it("is blocked if the scan stopped at a failing check, because the others have not run", async () => {
    expect(await outcome([new Anonymize(), substrings("zebra")], "ann@example.org", { failFast: true })).toBe(
      "blocked",
    );
    expect(await outcome([new Anonymize()], "fine", { failFast: true })).toBe("passed");
  });

  it("cannot be masked by scanners that rewrite nothing", async () => {
    const made = (masking: string[]) => serviceWith({ input: [new Secrets(), substrings("x")] }, { masking });
    await expect(made(["Secret"])).rejects.toThrow("app.masking.0: unknown scanner Secret; did you mean Secrets?");
    await expect(made(["Secrets", "BanSubstrings"])).rejects.toThrow(
      "app.masking.1: BanSubstrings does not remove everything that it finds",
    );
    const input = [substrings("x", { redact: true }), new Regex({ patterns: ["x"], name: "First" })];
    const output = [new JSONScanner({ name: "Repair" })];
    for (const { name } of [...input, ...output]) {
      const making = serviceWith({ input, output }, { masking: [name] });
      await expect(making).rejects.toThrow(`app.masking.0: ${name} does not remove everything that it finds`);
    }
    await expect(made(["X"])).rejects.toBeInstanceOf(GuardValidationError);
  });
});
