import { describe, expect, it, onTestFinished, vi } from "vitest";
import { mergeTraffic, type TrafficCounts } from "../../../src/server/traffic/traffic.ts";
import { testServer, wordScanner } from "../fixtures.ts";

const ops = { authorization: "Bearer ops-token" };
const shop = { authorization: "Bearer shop-token" };
const auth = [
  { type: "http_bearer", name: "ops", token: "ops-token", may_administer: true },
  { type: "http_bearer", name: "shop", token: "shop-token" },
];

/** Sets the clock of the calendar, which minutes are counted by. */
function setTime(time: string): void {
  vi.spyOn(Date, "now").mockReturnValue(Date.parse(time));
  onTestFinished(() => void vi.restoreAllMocks());
}

describe("GET /admin/traffic", () => {
  it("counts decisions by minute, scanner, source, credential and profile", async () => {
    setTime("2026-05-04T10:20:30Z");
    const { post, get } = await testServer(
      {
        input: [
          wordScanner("Ann", { name: "Names", replacement: "[NAME]", vaultScope: "call" }),
          wordScanner("zebra", { name: "Zebra", conversation: { sources: ["user", "tool"] } }),
        ],
        output: [wordScanner("lion", { name: "Lion" })],
      },
      { auth },
    );
    await post("/analyze/prompt", { prompt: "Good morning" }, shop);
    await post("/analyze/prompt", { prompt: "I am <Ann>" }, shop);
    setTime("2026-05-04T10:22:00Z");
    await post("/scan/prompt", { prompt: "A zebra", source: "tool" }, ops);
    await post("/scan/output", { prompt: "Hi", output: "A lion" }, ops);
    expect((await post("/scan/prompt", { prompt: 7 }, shop)).statusCode).toBe(422);
    const reply = await get("/admin/traffic?minutes=15", ops);
    expect(reply.statusCode).toBe(200);
    const { minutes, scanners, decisions, ...rest } = reply.json();
    expect(minutes).toHaveLength(15);
    expect(minutes.slice(-3)).toEqual([
      { time: "2026-05-04T10:20:00.000Z", outcomes: { passed: 1, masked: 1 } },
      { time: "2026-05-04T10:21:00.000Z", outcomes: {} },
      { time: "2026-05-04T10:22:00.000Z", outcomes: { blocked: 2 } },
    ]);
    expect(scanners.input.Zebra).toMatchObject({ passed: 2, failed: 1 });
    expect(scanners.output.Lion).toMatchObject({ failed: 1 });
    expect(rest).toMatchObject({
      has_texts: false,
      sources: { user: { passed: 1, failed: 1 }, tool: { failed: 1 }, output: { failed: 1 } },
      credentials: { shop: { passed: 1, masked: 1 }, ops: { blocked: 2 } },
      profiles: { default: { passed: 1, masked: 1, blocked: 2 } },
      errors: { 422: 1 },
    });
    expect(decisions.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      "blocked",
      "blocked",
      "masked",
      "passed",
    ]);
    expect(decisions[1]).toMatchObject({ credential: "ops", route: "/scan/prompt", failed: ["Zebra"] });
    expect(reply.body).not.toContain("zebra");
  });

  it("counts what checks that only monitor would have stopped", async () => {
    const { post, get } = await testServer({
      input: [wordScanner("zebra", { name: "Zebra" }), wordScanner("lion", { name: "Lion", mode: "monitor" })],
    });
    await post("/scan/prompt", { prompt: "A lion" });
    await post("/scan/prompt", { prompt: "A lion and a zebra" });
    const { minutes, scanners, sources, decisions } = (await get("/admin/traffic")).json();
    expect(minutes.at(-1).outcomes).toEqual({ passed: 1, blocked: 1, would_block: 2 });
    expect(scanners.input.Lion).toMatchObject({ would_fail: 2 });
    expect(sources).toEqual({ user: { passed: 1, failed: 1 } });
    expect(decisions).toMatchObject([
      { failed: ["Zebra"], would_fail: ["Lion"] },
      { failed: [], would_fail: ["Lion"] },
    ]);
  });

  it("forgets minutes that are older than the range", async () => {
    setTime("2026-05-04T10:00:00Z");
    const { post, get } = await testServer({ input: [wordScanner("zebra", { name: "Zebra" })] });
    await post("/scan/prompt", { prompt: "A zebra" });
    setTime("2026-05-04T10:59:00Z");
    const failedIn = async (minutes: number) =>
      (await get(`/admin/traffic?minutes=${minutes}`)).json().scanners.input?.Zebra?.failed;
    expect(await failedIn(60)).toBe(1);
    expect(await failedIn(15)).toBeUndefined();
    setTime("2026-05-04T11:00:00Z");
    expect(await failedIn(60)).toBeUndefined();
    expect(await failedIn(180)).toBe(1);
    expect((await get("/admin/traffic?minutes=7")).statusCode).toBe(422);
  });

  it("shows texts with app.log_content only, and only to the credential that sent them", async () => {
    const { post, get } = await testServer({ input: [] }, { auth, app: { logContent: true } });
    await post("/scan/prompt", { prompt: "from the shop" }, shop);
    await post("/scan/prompt", { prompt: `from ops ${"x".repeat(5000)}` }, ops);
    const { decisions, has_texts } = (await get("/admin/traffic", ops)).json();
    expect(has_texts).toBe(true);
    expect(decisions[0].content.prompt).toMatch(/^from ops x+…$/);
    expect(decisions[0].content.prompt.length).toBeLessThan(2100);
    expect(decisions[1].content).toBeUndefined();
  });

  it("is for operators", async () => {
    const { get } = await testServer({}, { auth });
    for (const path of ["/admin/traffic", "/admin/config"]) {
      expect((await get(path)).statusCode, path).toBe(401);
      expect((await get(path, shop)).statusCode, path).toBe(403);
    }
  });

  it("adds the counts of several processes, whatever the names", () => {
    const process = (time: number): TrafficCounts => ({
      since: time,
      minutes: { 7: { passed: 1 } },
      sums: JSON.parse('{"credentials":{"__proto__":{"passed":1}}}'),
      decisions: [
        {
          request: `r${time}`,
          time,
          route: "",
          credential: "",
          profile: "",
          side: "input",
          outcome: "passed",
          failed: [],
        },
      ],
    });
    const { since, minutes, sums, decisions } = mergeTraffic([process(2), process(1)]);
    expect(since).toBe(1);
    expect(JSON.stringify([minutes, sums])).toBe('[{"7":{"passed":2}},{"credentials":{"__proto__":{"passed":2}}}]');
    expect(decisions.map(({ request }) => request)).toEqual(["r1", "r2"]);
    expect(({} as { passed?: number }).passed).toBeUndefined();
  });
});
