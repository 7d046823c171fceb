import { describe, expect, it } from "vitest";
import { DIALECTS as NAMES } from "../../../src/config/dialects.ts";
import type { ConfigInput } from "../../../src/config/index.ts";
import { DIALECTS } from "../../../src/server/dialects/index.ts";
import { testServer, wordScanner } from "../fixtures.ts";

const endpoints = (
  await Promise.all(
    NAMES.map(async (name) =>
      (await DIALECTS[name]()).endpoints.map((endpoint) => [name, endpoint.path, endpoint] as const),
    ),
  )
).flat();

/** One dialect needs a scanner that looks for personal data. */
const CONFIG: ConfigInput = {
  app: { lazyLoad: true },
  inputScanners: [{ type: "Anonymize", params: { recognizerConf: [] } }],
};

describe("dialects", () => {
  it("are off unless the configuration names them", async () => {
    const server = await testServer();
    for (const [, path, { example }] of endpoints) {
      expect((await server.post(path, example.request)).statusCode, path).toBe(404);
    }
  });

  it("reject unknown names", async () => {
    await expect(testServer({}, { dialects: ["babel" as never] })).rejects.toThrow(/dialects\.0/);
  });

  it.each(endpoints)("%s answers its example at %s, and describes it", async (name, path, { example }) => {
    const server = await testServer({}, { ...CONFIG, dialects: [name, name] });
    const reply = await server.post(path, example.request);
    expect(reply.statusCode, reply.body).toBe(200);
    const described = (await server.get("/openapi.json")).json().paths[path.replaceAll(/:(\w+)/g, "{$1}")].post;
    expect(described.requestBody.content["application/json"].example).toEqual(example.request);
    expect(described.responses[200].content["application/json"].example).toEqual(example.reply);
    expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(["401", "422", "503"]));
  });

  it.each(endpoints)("%s requires a credential at %s", async (name, path, { example }) => {
    const server = await testServer(
      {},
      { ...CONFIG, dialects: [name], auth: [{ type: "http_bearer", token: "a-token" }] },
    );
    expect((await server.post(path, example.request)).statusCode).toBe(401);
    const headers = { authorization: "Bearer a-token" };
    expect((await server.post(path, example.request, headers)).statusCode).toBe(200);
  });

  it("count in the log and the metrics, without the texts", async () => {
    const scanners = { input: [wordScanner("zebra")] };
    const server = await testServer(scanners, { dialects: ["lakera"], metrics: { exporter: "prometheus" } });
    await server.post("/v2/guard", { messages: [{ role: "user", content: "A zebra." }] });
    const line = server.log.map((line) => JSON.parse(line)).find(({ msg }) => msg === "request");
    expect(line).toMatchObject({ route: "/v2/guard", status: 200, valid: false, flagged: ["Word"] });
    expect(server.log.join("")).not.toContain("zebra");
    const open = await testServer(scanners, { dialects: ["lakera"], app: { logContent: true } });
    await open.post("/v2/guard", { messages: [{ role: "user", content: "A zebra." }] });
    expect(open.log.join("")).toContain("A zebra.");
    expect((await server.get("/metrics")).body).toMatch(/guard_scanner_verdicts_total\{[^}]*valid="false"\} 1/);
  });
});
