import { describe, expect, it } from "vitest";
import type { ModeSetting } from "../../src/scan/mode.ts";
import { PromptInjection, Secrets } from "../../src/scanners/generated/input-scanners.ts";
import { scannerOf } from "../server/fixtures.ts";
import { openSession, POISON, serverWith, textOf } from "./session.ts";

const SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

const scanners = () => {
  const detector = new PromptInjection({ classifier: (text) => (text.includes("Ignore all previous") ? 1 : 0) });
  return { tool: [detector], tool_definition: [detector], tool_call: [new Secrets()] };
};

const server = () =>
  serverWith({
    good: { description: "Says it again.", run: (text) => `You said: ${text}` },
    bad: { description: POISON, run: () => POISON },
  });

const session = async (mode: ModeSetting) => openSession(await server(), scanners(), {}, { mode });

describe("an MCP server behind a guard that only monitors", () => {
  it("shows all tools, sends all arguments and returns all results, and logs what it would have done", async () => {
    const { client, lines } = await session("monitor");
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["good", "bad"]);
    expect(client.getInstructions()).toContain(POISON);
    const echoed = await client.callTool({ name: "good", arguments: { text: SECRET } });
    expect(textOf(echoed)).toBe(`You said: ${SECRET}`);
    const poisoned = await client.callTool({ name: "bad", arguments: { text: "x" } });
    expect([poisoned.isError ?? false, textOf(poisoned)]).toEqual([false, POISON]);
    const log = lines.join("\n");
    for (const [source, check] of [
      ["tool_definition", "PromptInjection[tool_definition]"],
      ["tool_call", "Secrets[tool_call]"],
      ["tool", "PromptInjection[tool]"],
    ]) {
      expect(log).toMatch(
        new RegExp(`would block a text of the source ${source} .*: ${check?.replace(/[[\]]/g, "\\$&")}`),
      );
    }
    expect(log).not.toContain(POISON);
    expect(log).not.toContain(SECRET);
  });

  it("enforces for the sources that are not monitored", async () => {
    const { client } = await session({ tool: "monitor" });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["good"]);
    const refused = await client.callTool({ name: "good", arguments: { text: SECRET } });
    expect(refused.isError).toBe(true);
  });

  it("forwards what a scanner could not check", async () => {
    const broken = scannerOf("Broken", () => Promise.reject(new Error("no")));
    const { client, lines } = await openSession(await server(), { tool: [broken] }, {}, { mode: "monitor" });
    const result = await client.callTool({ name: "good", arguments: { text: "x" } });
    expect(textOf(result)).toBe("You said: x");
    expect(lines.join("\n")).toContain("would block a text of the source tool (result): Broken[tool]");
  });
});
