import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startServer, type TestServer } from "../../test/server/fixtures.ts";

interface Plugin {
  name: string;
  config: {
    lakera_service_url?: string;
    request?: { url: string; headers: Record<string, string>; body: Record<string, string> };
    response?: Record<string, string>;
    functions?: Record<string, string>;
  };
}

const page = readFileSync(new URL("README.md", import.meta.url), "utf8");
const plugins = [...page.matchAll(/```yaml\n(plugins:[^`]*)```/g)].flatMap(
  ([, text = ""]) => (parse(text) as { plugins: Plugin[] }).plugins,
);
const plugin = (name: string) => plugins.find((found) => found.name === name)?.config as Plugin["config"];

let server: TestServer;
beforeAll(async () => {
  const scanners = [{ type: "BanSubstrings", params: { substrings: ["zebra"] } }];
  server = await startServer(
    {},
    {
      dialects: ["lakera"],
      auth: [{ type: "http_bearer", token: "a-token-of-some-length" }],
      inputScanners: scanners,
      outputScanners: scanners,
    },
  );
});
afterAll(() => server.app.close());

const asked = (source: "INPUT" | "OUTPUT", content: unknown, token = "a-token-of-some-length") =>
  server.post(
    new URL(plugin("ai-custom-guardrail").request?.url ?? "").pathname,
    { messages: [{ role: source === "OUTPUT" ? "assistant" : "user", content }] },
    { authorization: `Bearer ${token}` },
  );

describe("the configuration for Kong", () => {
  it("names an address of guard, and existing functions", () => {
    const { request, response, functions = {} } = plugin("ai-custom-guardrail");
    expect(plugin("ai-lakera-guard").lakera_service_url).toBe(request?.url);
    const named = [...JSON.stringify([request?.body, response]).matchAll(/\$\((\w+)/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(Object.keys(functions)));
    expect(functions.verdict).toContain("resp.flagged == false");
  });

  it.each(["INPUT", "OUTPUT"] as const)("receives the fields that its function reads: %s", async (source) => {
    expect((await asked(source, "A horse.")).json().flagged).toBe(false);
    expect((await asked(source, "A zebra.")).json().flagged).toBe(true);
    // Only `flagged: false` passes, so no error passes.
    for (const reply of [await asked(source, "A horse.", "wrong"), await asked(source, 1)]) {
      expect(reply.statusCode).toBeGreaterThanOrEqual(400);
      expect(reply.json()).not.toHaveProperty("flagged");
    }
  });
});
