import { describe, expect, it } from "vitest";
import { assertSafeToListen, createServer } from "../../src/server/index.ts";

describe("createServer without a credential", () => {
  it("listens on loopback only", async () => {
    const config = { app: { logLevel: "silent" }, inputScanners: [{ type: "InvisibleText" }] };
    const app = await createServer(config);
    await expect(app.listen({ host: "0.0.0.0", port: 0 })).rejects.toThrow(/^auth: listening on 0.0.0.0/);
    expect(await app.listen({ port: 0 })).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/);
    await app.close();
    const safe = await createServer({ ...config, auth: { type: "http_bearer", token: "secret" } });
    expect(await safe.listen({ host: "0.0.0.0", port: 0 })).toMatch(/^http:/);
    await safe.close();
  });
});

describe("assertSafeToListen", () => {
  const auth = [{ type: "http_bearer" as const, token: "x" }];

  it.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("accepts %s without a credential", (host) => {
    expect(() => assertSafeToListen({ auth: undefined }, host)).not.toThrow();
  });

  it.each(["0.0.0.0", "::", "192.168.1.1", "example.org", "", "127.example.org", "::ffff:1.2.3.4"])(
    "rejects %j",
    (host) => {
      expect(() => assertSafeToListen({ auth: undefined }, host)).toThrow(/^auth: listening on/);
      expect(() => assertSafeToListen({ auth }, host)).not.toThrow();
    },
  );
});
