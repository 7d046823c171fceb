import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { bodyBudget } from "../../../src/http-server/byte-budget.ts";
import { createServer } from "../../../src/server/index.ts";
import { testServer, waitingScanner } from "../fixtures.ts";

const full = expect.objectContaining({ status: 503, headers: { "retry-after": "1", connection: "close" } });

describe("the budget of bodies", () => {
  it("counts received bytes until they are released", () => {
    const budget = bodyBudget(100, "app.max_open_bodies");
    const first = budget.open("a", 1000 - 900);
    first.add(60);
    expect(() => budget.open("b", 50)).toThrow(full);
    const second = budget.open("b", 40);
    second.add(40);
    expect(() => second.add(1)).toThrow(full);
    first.release();
    first.release();
    second.add(10);
    expect(() => budget.open("c", 51)).toThrow(full);
    budget.open("c", 50).add(50);
  });

  it("leaves half of it to others, however many bodies a caller sends", () => {
    const budget = bodyBudget(100, "app.max_open_bodies");
    const only = budget.open("a", 0);
    only.add(80);
    only.release();
    const bodies = [1, 2, 3].map(() => budget.open("a", 0));
    bodies[0]?.add(30);
    bodies[1]?.add(20);
    expect(() => bodies[2]?.add(1)).toThrow(full);
    budget.open("b", 50).add(50);
  });
});

describe("a server", () => {
  it("refuses bodies beyond its budget, and serves them when there is room again", async () => {
    const waiting = waitingScanner();
    const { post } = await testServer(
      { input: [waiting.scanner] },
      { app: { maxBodySize: 4096, maxOpenBodies: 8192 } },
    );
    const prompt = "x".repeat(3000);
    const first = post("/scan/prompt", { prompt });
    await waiting.started;
    const refused = await post("/scan/prompt", { prompt: `${prompt}y`.repeat(1) });
    expect(refused.statusCode).toBe(503);
    expect(refused.headers["retry-after"]).toBe("1");
    expect(refused.json().detail).toContain("app.max_open_bodies");
    waiting.release();
    expect((await first).statusCode).toBe(200);
    expect((await post("/scan/prompt", { prompt })).statusCode).toBe(200);
  });

  it("names the limit and the setting of a body that is too large, before it is read", async () => {
    const { post } = await testServer({}, { app: { maxBodySize: 2048 } });
    const { statusCode, ...reply } = await post("/scan/prompt", { prompt: "x".repeat(3000) });
    expect([statusCode, reply.json().detail]).toEqual([413, "The body has more than 2048 bytes (app.max_body_size)."]);
  });

  it("counts bodies without a length while they arrive", async () => {
    const app = await createServer({
      inputScanners: [{ type: "InvisibleText" }],
      app: { maxBodySize: 4096, maxOpenBodies: 4096, logLevel: "silent" },
    });
    onTestFinished(async () => void (await app.close()));
    const url = new URL(await app.listen({ port: 0 }));
    const dial = () => {
      const socket = connect(Number(url.port), url.hostname);
      onTestFinished(() => void socket.destroy());
      return socket;
    };
    const head =
      "POST /scan/prompt HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    const piece = `600\r\n${" ".repeat(0x600)}\r\n`;
    const sockets = [dial(), dial(), dial()];
    const answers = sockets.map(
      (socket) => new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data)))),
    );
    for (const socket of sockets) socket.write(head + piece);
    expect(await Promise.race(answers)).toMatch(/^HTTP\/1\.1 503 /);
  });
});
