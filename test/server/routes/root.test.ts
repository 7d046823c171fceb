import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { testServer } from "../fixtures.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

describe("GET /", () => {
  it.each([
    [undefined],
    ["*/*"],
    [""],
    ["application/json"],
    ["text/*"],
    ["application/json, text/html;q=0.5"],
    ["text/html;q=0"],
    ["text/plain"],
  ])("returns the name as JSON with Accept: %s", async (accept) => {
    const { get } = await testServer();
    const reply = await get("/", accept === undefined ? {} : { accept });
    expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(reply.headers.vary).toBe("accept");
    expect(reply.json()).toEqual({ name: "LLM Guard API" });
  });

  it.each([[BROWSER], ["text/html"], ["TEXT/HTML; q=0.9, application/json;q=0.8"], ["application/json,text/html"]])(
    "returns a page with Accept: %s",
    async (accept) => {
      const { get } = await testServer();
      const reply = await get("/", { accept });
      expect(reply.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(reply.body).toContain("<h1>LLM Guard API</h1>");
      expect(reply.body).not.toContain("{{");
    },
  );

  it("restricts the page to its own files", async () => {
    const { get } = await testServer();
    const { headers, body } = await get("/", { accept: BROWSER });
    const policy = headers["content-security-policy"];
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(body).not.toMatch(/(src|href|action)="(https?:)?\/\//);
    expect(body).not.toMatch(/<style|style=|<script[^>]*>[^<]| on\w+=/);
  });

  it("escapes the name and the settings", async () => {
    const auth = [
      { type: "api_key", header: "X-It's", keys: ["key-CANARY"] },
      { type: "http_bearer", token: "one-CANARY" },
      { type: "http_bearer", token: "two-CANARY" },
      { type: "http_basic", username: "user-CANARY", password: "x" },
    ];
    const { get } = await testServer({}, { app: { name: '<script>"&{{settings}}' }, auth });
    const { body } = await get("/", { accept: BROWSER });
    expect(body).toContain("<h1>&#60;script&#62;&#34;&#38;{{settings}}</h1>");
    expect(body).not.toContain("CANARY");
    const [, settings = ""] = /data-settings="([^"]*)"/.exec(body) ?? [];
    const text = settings.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
    expect(JSON.parse(text)).toEqual({
      schemes: [{ type: "api_key", header: "X-It's" }, { type: "http_bearer" }, { type: "http_basic" }],
      window: 3,
    });
  });
});

describe("GET /page/*", () => {
  const files = readdirSync(new URL("../../../src/server/console/", import.meta.url)).filter(
    (name) => name !== "page.html",
  );

  it.each(files)("serves %s without a credential, and cacheable", async (name) => {
    const { get } = await testServer({}, { auth: { type: "http_bearer", token: "x" } });
    const reply = await get(`/page/${name}`);
    expect(reply.statusCode).toBe(200);
    expect(reply.headers["content-type"]).toMatch(/^(text\/javascript|text\/css|image\/svg\+xml)/);
    expect(reply.headers["content-security-policy"]).toContain("default-src 'none'");
    const again = await get(`/page/${name}`, { "if-none-match": reply.headers.etag as string });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
  });

  it("serves nothing else", async () => {
    const { get } = await testServer();
    for (const path of ["/page/", "/page/page.html", "/page/nothing.js", "/page/..%2fapp.ts", "/page/../app.ts"])
      expect((await get(path)).statusCode, path).toBe(404);
  });
});
