import { Agent, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { testServer, wordScanner } from "../fixtures.ts";

/** Sends a request over a connection of its own. */
function ask(port: number, agent: Agent, prompt: string): Promise<{ sanitized_prompt: string; is_valid: boolean }> {
  const body = JSON.stringify({ prompt });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const asking = request({ port, agent, method: "POST", path: "/analyze/prompt", headers }, (response) => {
      let text = "";
      response.on("data", (piece) => {
        text += piece;
      });
      response.on("end", () => resolve(JSON.parse(text)));
    });
    asking.on("error", reject).end(body);
  });
}

it("returns to each of many connections its own responses, in order", async () => {
  const { app } = await testServer({ input: [wordScanner("tide")] });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const connections = Array.from({ length: 12 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  onTestFinished(() => {
    for (const agent of connections) agent.destroy();
  });
  const asked = await Promise.all(
    connections.flatMap((agent, connection) =>
      Array.from({ length: 8 }, async (_, turn) => {
        const prompt = `${turn % 2 === 0 ? "tide" : "boat"} ${turn} of connection ${connection}`;
        return { prompt, answer: await ask(port, agent, prompt) };
      }),
    ),
  );
  expect(asked).toHaveLength(96);
  for (const { prompt, answer } of asked) {
    expect(answer.sanitized_prompt).toBe(prompt);
    expect(answer.is_valid).toBe(!prompt.startsWith("tide"));
  }
});
