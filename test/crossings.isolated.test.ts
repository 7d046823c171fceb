import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { buildScanners, parseConfig } from "../src/config/index.ts";
import { ConversationRisk, scanConversation } from "../src/conversation/scan-conversation.ts";
import { addon } from "../src/native.ts";

/** Records the calls of the addon that take a text: functions, and methods of its classes. */
function countCrossings(): string[] {
  const seen: string[] = [];
  const counted = (name: string, call: (...args: unknown[]) => unknown) =>
    function (this: unknown, ...args: unknown[]) {
      if (args.some((value) => typeof value === "string")) seen.push(name);
      return call.apply(this, args);
    };
  for (const [name, value] of Object.entries(addon as unknown as Record<string, unknown>)) {
    if (typeof value !== "function") continue;
    if (!/^[A-Z]/.test(name)) {
      Object.assign(addon, { [name]: counted(name, value as never) });
      continue;
    }
    for (const [method, { value: call }] of Object.entries(Object.getOwnPropertyDescriptors(value.prototype))) {
      if (method !== "constructor" && typeof call === "function") {
        value.prototype[method] = counted(`${name}.${method}`, call);
      }
    }
  }
  return seen;
}

it("the core requests nothing of a text twice in one call", async () => {
  const config = parseConfig(readFileSync("scanners.yml", "utf8"));
  const { input } = buildScanners(config);
  for (const scanner of input) await scanner.load?.();
  const detecting = input.find(({ detect }) => detect) as Parameters<typeof ConversationRisk.fromScanner>[0];
  const risk = ConversationRisk.fromScanner(detecting);
  const seen = countCrossings();
  const { resultsScore } = await scanConversation(
    input,
    [
      { role: "user", content: "First message of a user." },
      { role: "assistant", content: "ok" },
      { role: "user", content: "Second one, on trains." },
      { role: "user", content: "Third: what time is it?" },
      { role: "tool", content: "It is nine o'clock in Rome." },
    ],
    { risk },
  );
  expect(Object.keys(resultsScore)).toContain("ConversationRisk");
  const count = (name: string) => seen.filter((other) => other === name).length;
  // Three messages, their window and the tool result are five texts. The views of each text are created once.
  expect(count("revealingViews")).toBe(5);
  // PromptInjection reads all five texts, and Toxicity three: the unanswered messages and the window.
  expect(count("NativeModel.classify")).toBe(8);
  // Each model detects once per text which parts are in languages that it knows.
  expect(count("NativeLinear.foreignParts")).toBe(8);
  // The lengths of the texts are below the limit of TokenLimit, so it counts no tokens. Only texts that fail are split into sentences.
  expect(seen.filter((name) => name !== "splitSentences")).toHaveLength(24);
});
