import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { Anonymize, BanSubstrings } from "../../../src/scanners/generated/input-scanners.ts";
import { testServer } from "../fixtures.ts";
import { dereferenced } from "../openapi.ts";

interface Body {
  content?: Record<string, { schema: Record<string, unknown>; example?: unknown }>;
}

interface Reply {
  checks?: { timing: number }[];
  vault?: string;
  timing?: Record<string, number>;
  engine_timing?: object;
}

interface Operation {
  operationId: string;
  requestBody?: Body;
  responses: Record<string, Body>;
}

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1 and has a schema for every body", async () => {
    const { get } = await testServer({}, { auth: [{ type: "http_bearer", token: "x" }] });
    // dereferenced() throws if a reference points to nothing.
    const document = dereferenced((await get("/openapi.json")).json());
    expect(document.openapi).toBe("3.1.0");
    expect(document.components.securitySchemes).toEqual({ http_bearer: { type: "http", scheme: "bearer" } });
    expect(Object.keys(document.paths).sort()).toEqual([
      "/",
      "/admin/config",
      "/admin/exceptions",
      "/admin/exceptions/{id}",
      "/admin/traffic",
      "/analyze/conversation",
      "/analyze/documents",
      "/analyze/output",
      "/analyze/output/stream",
      "/analyze/prompt",
      "/analyze/scan",
      "/healthz",
      "/metrics",
      "/profiles",
      "/readyz",
      "/reviews",
      "/reviews/{id}",
      "/scan/conversation",
      "/scan/documents",
      "/scan/output",
      "/scan/output/stream",
      "/scan/outputs",
      "/scan/prompt",
      "/scan/prompts",
    ]);
    const ids = new Set<string>();
    for (const [path, methods] of Object.entries<Record<string, Operation>>(document.paths)) {
      for (const [method, { operationId, requestBody, responses }] of Object.entries(methods)) {
        ids.add(operationId);
        expect(
          Object.keys(responses).filter((status) => status.startsWith("2")),
          path,
        ).toHaveLength(1);
        for (const { content } of Object.values(responses)) {
          for (const { schema } of Object.values(content ?? {})) expect(schema, path).toBeTruthy();
        }
        if (method !== "post") continue;
        expect(requestBody?.content?.["application/json"]?.schema.properties, path).toBeTruthy();
        const ofScans = /^\/(?:admin|reviews)\//.test(path) ? [] : ["500", "504"];
        for (const status of ["400", "401", "413", "415", "422", "429", "503", ...ofScans]) {
          expect(responses[status]?.content, `${path} ${status}`).toHaveProperty(["application/problem+json"]);
        }
      }
    }
    expect(ids.size).toBe(25);
  });

  it("is valid OpenAPI", async () => {
    const auth = [{ type: "http_bearer", token: "x" }];
    for (const config of [{}, { auth }, { metrics: { public: true } }]) {
      const { get } = await testServer({}, config);
      const { valid, errors } = await new Validator().validate((await get("/openapi.json")).json());
      expect([valid, errors]).toEqual([true, undefined]);
    }
  });

  it("names its schemas", async () => {
    const document = (await (await testServer()).get("/openapi.json")).json();
    expect(Object.keys(document.components.schemas).sort()).toEqual([
      "AdHocRecognizer",
      "BatchLine",
      "ConversationRequest",
      "ConversationResult",
      "Coverage",
      "Document",
      "DocumentResult",
      "DocumentsRequest",
      "DocumentsResult",
      "Exception",
      "ExceptionList",
      "ExceptionRequest",
      "Finding",
      "Message",
      "MessagePart",
      "OutputRequest",
      "OutputResult",
      "OutputStreamEvent",
      "OutputStreamRequest",
      "OutputStreamStart",
      "OutputsRequest",
      "Problem",
      "ProfileList",
      "PromptRequest",
      "PromptResult",
      "PromptsRequest",
      "Review",
      "ReviewDecision",
      "ReviewList",
      "ScanResult",
      "ServerConfig",
      "ServiceName",
      "Status",
      "ToolCall",
      "Traffic",
    ]);
    const { requestBody, responses } = document.paths["/analyze/prompt"].post;
    const schemaOf = ({ content }: Body) => Object.values(content ?? {}).map(({ schema }) => schema.$ref);
    expect(schemaOf(requestBody)).toEqual(["#/components/schemas/PromptRequest"]);
    expect(schemaOf(responses[200])).toEqual(["#/components/schemas/PromptResult"]);
    expect(schemaOf(responses[422])).toEqual(["#/components/schemas/Problem"]);
    const { properties } = document.components.schemas.PromptResult;
    expect(properties.findings.additionalProperties.items).toEqual({ $ref: "#/components/schemas/Finding" });
    expect(document.components.schemas.ConversationRequest.properties.messages.items).toEqual({
      $ref: "#/components/schemas/Message",
    });
  });

  it("has an example of every request and response, which fits its schema", async () => {
    const document = dereferenced((await (await testServer()).get("/openapi.json")).json());
    const ajv = new Ajv2020({ strict: false });
    for (const [path, methods] of Object.entries<Record<string, Operation>>(document.paths)) {
      for (const { requestBody, responses } of Object.values(methods)) {
        for (const { content } of [requestBody ?? {}, ...Object.values(responses)]) {
          for (const [type, { schema, example }] of Object.entries(content ?? {})) {
            expect(example, `${path} ${type}`).toBeDefined();
            expect(ajv.validate(schema, example), `${path} ${type} ${ajv.errorsText()}`).toBe(true);
          }
        }
      }
    }
  });

  it("has examples that match real responses", async () => {
    const zebra = { substrings: ["zebra"] };
    const { get, post } = await testServer(
      {
        input: [new Anonymize({ recognizerConf: [] }), new BanSubstrings(zebra)],
        output: [new BanSubstrings({ ...zebra, redact: true })],
      },
      { conversation: { scan: { tool: ["Anonymize", "BanSubstrings"] } } },
    );
    const { paths } = (await get("/openapi.json")).json();
    const operations = Object.entries<Record<string, Operation>>(paths).filter(
      // An exception has the time at which it was added, and its own tests. So have reviews.
      ([path, { post }]) => post && !path.startsWith("/admin/") && !path.startsWith("/reviews/"),
    );
    expect(operations).toHaveLength(13);
    for (const [path, { post: operation }] of operations) {
      const json = "application/json";
      const { requestBody, responses } = operation as Operation;
      if (path.endsWith("/stream")) {
        for (const [type, { example: payload }] of Object.entries(requestBody?.content ?? {})) {
          for (const [accept, { example }] of Object.entries(responses[200]?.content ?? {})) {
            const reply = await post(path, payload, { accept, "content-type": type });
            const shown = typeof example === "string" ? example : `${JSON.stringify(example)}\n`;
            expect(reply.payload.endsWith(`\n${shown}`), `${path} ${type} ${accept}`).toBe(true);
          }
        }
        continue;
      }
      const lines = responses[200]?.content?.["application/x-ndjson"];
      if (lines) {
        const { payload } = await post(path, requestBody?.content?.[json]?.example);
        expect(JSON.parse(payload.trim().split("\n").at(-1) as string), path).toEqual(lines.example);
        continue;
      }
      const {
        vault,
        timing,
        engine_timing: clocks,
        checks,
        ...reply
      }: Reply = (await post(path, requestBody?.content?.[json]?.example)).json();
      const { content } = responses[200] ?? {};
      const {
        vault: shown,
        timing: times,
        engine_timing: shownClocks,
        checks: shownChecks,
        ...example
      } = (content?.[json]?.example ?? {}) as Reply;
      expect(reply, path).toEqual(example);
      expect(withoutTiming(checks), path).toEqual(withoutTiming(shownChecks));
      expect(typeof shown, path).toBe(typeof vault);
      expect(Object.keys(times ?? {}), path).toEqual(Object.keys(timing ?? {}));
      // These scanners call no model. The example shows the fields that a model adds.
      expect(clocks, path).toEqual(shownClocks === undefined ? undefined : {});
    }
  });

  it("names every kind of credential", async () => {
    const key = (header: string) => ({ type: "api_key", header, keys: ["x"] });
    const token = (token: string) => ({ type: "http_bearer", token });
    const { get } = await testServer(
      {},
      { auth: [key("X-One"), token("a"), key("X-Two"), token("b"), key("X-Three")] },
    );
    const { components, security } = (await get("/openapi.json")).json();
    expect(components.securitySchemes).toEqual({
      api_key: { type: "apiKey", in: "header", name: "X-One" },
      http_bearer: { type: "http", scheme: "bearer" },
      api_key_2: { type: "apiKey", in: "header", name: "X-Two" },
      api_key_3: { type: "apiKey", in: "header", name: "X-Three" },
    });
    expect(security).toEqual([{ api_key: [] }, { http_bearer: [] }, { api_key_2: [] }, { api_key_3: [] }]);
  });

  it("is rendered by a page without external resources", async () => {
    const { get } = await testServer();
    const page = await get("/docs/");
    expect(page.statusCode).toBe(200);
    expect(page.body).not.toMatch(/(src|href)="https?:/);
    expect(page.headers["content-security-policy"]).toMatch(/^(?!.*upgrade-insecure-requests).*default-src 'self'/);
    const script = "/docs/static/swagger-ui-bundle.js";
    expect((await get(script)).statusCode).toBe(200);
    expect((await get(script, { range: "bytes=99999999-" })).statusCode).toBe(416);
    expect((await get(script, { "if-match": '"another"' })).statusCode).toBe(412);
  });
});

/** Removes the timings of checks, which differ from run to run. */
function withoutTiming(checks: { timing: number }[] | undefined): unknown {
  return checks?.map(({ timing: _, ...check }) => check);
}
