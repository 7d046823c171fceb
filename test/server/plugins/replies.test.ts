import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BanSubstrings, InvisibleText, Secrets, TokenLimit } from "../../../src/scanners/generated/input-scanners.ts";
import { JSON as JsonScanner, ReadingTime, Regex } from "../../../src/scanners/generated/output-scanners.ts";
import { mutatedValues, type Schema, valuesOf } from "../../support/schema-values.ts";
import { startServer, type TestServer } from "../fixtures.ts";
import { dereferenced } from "../openapi.ts";

type Content = Record<string, { schema: Schema }>;

interface Operation {
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

describe("responses to valid and invalid requests match the OpenAPI document", async () => {
  const server: TestServer = await startServer({
    input: [new Secrets(), new BanSubstrings({ substrings: ["acme"] }), new InvisibleText(), new TokenLimit()],
    output: [new JsonScanner(), new ReadingTime({ maxTime: 1 }), new Regex({ patterns: ["a+b"] })],
  });
  afterAll(() => server.app.close());
  const document = dereferenced((await server.get("/openapi.json")).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const ajv = new Ajv2020({ strict: false });
  const compiled = new Map<Schema, ValidateFunction>();
  beforeAll(async () => {
    // Scans wait until the tokenizer is loaded.
    await vi.waitFor(async () => expect((await server.get("/readyz")).statusCode).toBe(200));
    process.on("unhandledRejection", fail);
    return () => process.off("unhandledRejection", fail);
  });

  function fail(error: unknown): never {
    throw error;
  }

  function expectDocumented({ responses }: Operation, status: number, type: string, body: string): void {
    const content = responses[status]?.content;
    expect(content, `status ${status}`).toBeDefined();
    const [kind = ""] = type.split(";");
    const schema = content?.[kind]?.schema;
    expect(schema, `${status} in ${kind}`).toBeDefined();
    if (schema === undefined || !kind.endsWith("json")) return;
    let validate = compiled.get(schema);
    if (validate === undefined) {
      validate = ajv.compile(schema);
      compiled.set(schema, validate);
    }
    const lines = kind === "application/x-ndjson" ? body.trim().split("\n") : [body];
    for (const line of lines) {
      validate(JSON.parse(line));
      expect(validate.errors ?? [], line).toEqual([]);
    }
  }

  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (method !== "post") continue;
      it(`POST ${path}`, async () => {
        for (const [type, { schema }] of Object.entries(operation.requestBody?.content ?? {})) {
          const values = valuesOf(schema);
          const bodies = fc.oneof(values, mutatedValues(values)).map((value) => JSON.stringify(value));
          // Truncated JSON is sent as well.
          const cut = fc.tuple(bodies, fc.nat()).map(([body, at]) => body.slice(0, at % body.length));
          const weighted = fc.oneof({ weight: 8, arbitrary: bodies }, { weight: 1, arbitrary: cut });
          await fc.assert(
            fc.asyncProperty(weighted, async (body) => {
              const reply = await server.post(path, body, { "content-type": type });
              expect(reply.statusCode).toBeLessThan(500);
              expectDocumented(operation, reply.statusCode, String(reply.headers["content-type"]), reply.body);
            }),
            { numRuns: 25 },
          );
        }
        const odd = [undefined, "", "null", "[]", "text", Buffer.from([0x22, 0xc3])];
        const types = [
          undefined,
          "application/json",
          "application/x-ndjson",
          "text/plain",
          "json",
          "application/json;charset=utf-7",
        ];
        for (const [body, type] of odd.flatMap((body) => types.map((type) => [body, type] as const))) {
          const reply = await server.post(path, body, type === undefined ? {} : { "content-type": type });
          expect(reply.statusCode, `${body} as ${type}`).toBeOneOf([400, 415, 422]);
          expectDocumented(operation, reply.statusCode, String(reply.headers["content-type"]), reply.body);
        }
      });
    }
  }

  it("GET of every path, with any query", async () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const operation = methods.get;
      if (operation === undefined) continue;
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: "grapheme" }).map(encodeURIComponent), async (query) => {
          const reply = await server.get(`${path}?${query}`);
          expectDocumented(operation, reply.statusCode, String(reply.headers["content-type"]), reply.body);
        }),
        { numRuns: 3 },
      );
    }
  });
});
