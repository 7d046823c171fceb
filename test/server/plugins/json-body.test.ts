import { describe, expect, it } from "vitest";
import { JSON_TYPE, testServer } from "../fixtures.ts";

describe("JSON bodies", () => {
  it("are UTF-8, with or without a byte order mark", async () => {
    const { post } = await testServer();
    for (const mark of ["", "\ufeff"]) {
      const reply = await post("/analyze/prompt", Buffer.from(`${mark}{"prompt": "café 😀 \ufffd"}`), JSON_TYPE);
      expect([reply.statusCode, reply.json().sanitized_prompt]).toEqual([200, "café 😀 \ufffd"]);
    }
  });

  it("are accepted with a content type in any case", async () => {
    const { post } = await testServer();
    const headers = { "content-type": "application/json; charset=UTF-8", "content-encoding": "Identity" };
    expect((await post("/scan/prompt", '{"prompt": "x"}', headers)).statusCode).toBe(200);
  });

  it("are rejected if compressed", async () => {
    const { post } = await testServer();
    expect((await post("/scan/prompt", "{}", { ...JSON_TYPE, "content-encoding": "gzip" })).statusCode).toBe(415);
  });
});
