import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { input, output } from "../../../src/index.ts";
import { startGuardServer } from "../../support/guard-server.ts";
import { scannerOf, testServer, waitingScanner, wordScanner } from "../fixtures.ts";

const NDJSON = { "content-type": "application/x-ndjson" };
const lines = (...values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");

/** The events of a reply in lines of JSON. */
const eventsOf = (payload: string) =>
  payload
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** The text that the events release. */
const textOf = (events: { text?: string }[]) => events.map(({ text = "" }) => text).join("");

/** A request with an open body, and the events of its response as they arrive. */
class Duplex {
  readonly sent: ClientRequest;
  readonly #reply: Promise<IncomingMessage>;
  #pieces: AsyncIterator<Buffer> | undefined;
  #rest = "";

  constructor(url: string, headers: Record<string, string> = NDJSON) {
    this.sent = httpRequest(url, { method: "POST", headers });
    onTestFinished(() => void this.sent.destroy());
    this.#reply = new Promise((resolve, reject) => this.sent.once("response", resolve).once("error", reject));
    this.#reply.catch(() => {});
    this.sent.on("error", () => {});
  }

  /** Writes lines, and waits until the connection accepts more. */
  async write(...values: unknown[]): Promise<void> {
    if (!this.sent.write(lines(...values))) await new Promise((resolve) => this.sent.once("drain", resolve));
  }

  async status(): Promise<number | undefined> {
    return (await this.#reply).statusCode;
  }

  /** The next event, or undefined at the end of the response. */
  async event(): Promise<Record<string, unknown> | undefined> {
    this.#pieces ??= (await this.#reply)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    for (;;) {
      const end = this.#rest.indexOf("\n");
      if (end >= 0) {
        const line = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 1);
        if (line !== "") return JSON.parse(line);
        continue;
      }
      const { done, value } = await this.#pieces.next();
      if (done) return undefined;
      this.#rest += value.toString();
    }
  }
}

describe("POST /analyze/output/stream", () => {
  it("releases an answer that arrives in lines, and the results at the end", async () => {
    const { post } = await testServer({ output: [wordScanner("zebra", { replacement: "***", vaultScope: "call" })] });
    const body = lines({ prompt: "Who?" }, { text: "The zeb" }, "ra.", { end: true });
    const reply = await post("/analyze/output/stream", body, NDJSON);
    expect(reply.statusCode).toBe(200);
    expect(reply.headers["content-type"]).toBe("application/x-ndjson");
    const events = eventsOf(reply.payload);
    expect(textOf(events)).toBe("The ***.");
    expect(events.at(-1)).toEqual({
      ...{ event: "done", outcome: "masked", is_valid: false, scanners: { Word: 1 } },
      at_end: ["Word"],
    });
  });

  it("releases nothing of a failing text, and reports why", async () => {
    const { post, log } = await testServer({ output: [wordScanner("zebra")] });
    const reply = await post("/analyze/output/stream", lines({ prompt: "Who?", details: true }, "The zebra."), NDJSON);
    const events = eventsOf(reply.payload);
    expect(textOf(events)).toBe("");
    expect(events.at(-1)).toMatchObject({
      event: "blocked",
      outcome: "blocked",
      findings: { Word: [{ start: 4, end: 9 }] },
      coverage: { chars: 10 },
    });
    expect(log.join("")).not.toContain("zebra");
    expect(log.map((line) => JSON.parse(line)).find(({ msg }) => msg === "request")).toMatchObject({
      route: "/analyze/output/stream",
      status: 200,
      valid: false,
      flagged: ["Word"],
    });
  });

  it.each([
    ["output", "a zebra"],
    ["tool_calls", [{ id: "a", type: "function", function: { name: "f", arguments: '{"x": "a zebra"}' } }]],
  ])("refuses %s in the first line, which nobody would scan", async (field, value) => {
    const { post } = await testServer({ output: [wordScanner("zebra")] });
    const reply = await post("/analyze/output/stream", lines({ prompt: "", [field]: value }), NDJSON);
    expect([reply.statusCode, reply.json().errors[0].pointer]).toEqual([422, `/${field}`]);
  });

  it("restores values that a request replaced", async () => {
    const scanners = { input: [new input.Anonymize()], output: [new output.Deanonymize()] };
    const { post } = await testServer(scanners, { app: { lazyLoad: true } });
    const asked = (await post("/analyze/prompt", { prompt: "Write to ann@example.org" })).json();
    const pieces = asked.sanitized_prompt.match(/.{1,3}/g);
    const start = { prompt: asked.sanitized_prompt, vault: asked.vault };
    const bodies = [
      lines(start, ...pieces),
      { ...start, output: pieces },
      { ...start, output: asked.sanitized_prompt },
    ];
    for (const body of bodies) {
      const reply = await post("/analyze/output/stream", body, typeof body === "string" ? NDJSON : {});
      expect(textOf(eventsOf(reply.payload))).toBe("Write to ann@example.org");
    }
  });

  it("sends server-sent events on request", async () => {
    const { post } = await testServer({ output: [wordScanner("zebra")] });
    const reply = await post("/analyze/output/stream", lines({ prompt: "" }, "a\nb"), {
      ...NDJSON,
      accept: "text/event-stream",
    });
    expect(reply.headers["content-type"]).toBe("text/event-stream");
    expect(reply.payload).toBe(
      ':\n\nevent: text\ndata: {"text":"a\\nb"}\n\n' +
        'event: done\ndata: {"is_valid":true,"scanners":{"Word":-1},"outcome":"passed","at_end":["Word"]}\n\n',
    );
    for (const [accept, type] of Object.entries({
      "text/*;q=0.5": "text/event-stream",
      "text/event-stream;q=0, */*": "application/x-ndjson",
    })) {
      const reply = await post("/analyze/output/stream", { prompt: "", output: "" }, { accept });
      expect(reply.headers["content-type"]).toBe(type);
    }
    const none = await post("/analyze/output/stream", { prompt: "", output: "" }, { accept: "text/html" });
    expect(none.statusCode).toBe(406);
  });

  it("sends one event per line on request, over one open connection", async () => {
    const { url } = await startGuardServer({ output: [wordScanner("zebra")] });
    const duplex = new Duplex(`${url}/analyze/output/stream`);
    await duplex.write({ prompt: "Who?", every_step: true });
    expect(await duplex.status()).toBe(200);
    let text = "";
    for (const line of ["a", { text: "b" }, { flush: true }, ""]) {
      await duplex.write(line);
      const event = await duplex.event();
      expect(event).toMatchObject({ event: "text" });
      text += event?.text;
    }
    await duplex.write({ end: true });
    let last = await duplex.event();
    for (; last?.event === "text"; last = await duplex.event()) text += last.text;
    expect(text).toBe("ab");
    expect(last).toMatchObject({ event: "done" });
    expect(await duplex.event()).toBeUndefined();
  });

  it("releases sentences while the answer continues, and text that has waited long enough", async () => {
    const { url } = await startGuardServer({ output: [new output.BanSubstrings({ substrings: ["zebra"] })] });
    const duplex = new Duplex(`${url}/analyze/output/stream`);
    await duplex.write({ prompt: "Who?" }, "A lion came to the water. It was thirsty and ");
    let text = "";
    // The text is released after the wait time of the service. The client sends nothing more.
    while (!text.includes("thirsty")) {
      const event = await duplex.event();
      expect(event).toMatchObject({ event: "text" });
      text += event?.text;
    }
    await duplex.write("then a zebra came. ", { end: true });
    let last = await duplex.event();
    for (; last?.event === "text"; last = await duplex.event()) text += last.text;
    expect(last).toMatchObject({ event: "blocked", at_end: [] });
    expect(text).not.toContain("zebra");
  });

  it("applies backpressure to a client that does not read, and loses nothing", async () => {
    const { url } = await startGuardServer({}, { app: { maxStreamSize: 2 ** 30 } });
    const duplex = new Duplex(`${url}/scan/output/stream`);
    await duplex.write({ prompt: "" });
    const piece = "All is well. ".repeat(4000);
    let count = 0;
    for (let isTaken = true; isTaken; count++) {
      // The buffers of both sides hold far less than this.
      expect(count).toBeLessThan(4000);
      const drained = () => once(duplex.sent, "drain", { signal: AbortSignal.timeout(1000) });
      isTaken =
        duplex.sent.write(lines(piece)) ||
        (await drained().then(
          () => true,
          () => false,
        ));
    }
    duplex.sent.end();
    let length = 0;
    let last = await duplex.event();
    for (; last?.event === "text"; last = await duplex.event()) length += String(last.text).length;
    expect(last).toMatchObject({ event: "done" });
    expect(length).toBe(count * piece.length);
  });

  it.each<[string, unknown, Record<string, string>, number, string | undefined]>([
    ["no prompt", lines({}), NDJSON, 422, "/prompt"],
    ["an empty body", "", NDJSON, 422, ""],
    ["a wrong field", lines({ prompt: "", details: 1 }), NDJSON, 422, "/details"],
    ["a vault of somebody else", lines({ prompt: "", vault: "AAAA" }), NDJSON, 422, "/vault"],
    ["no JSON", "{\n", NDJSON, 400, undefined],
    ["bytes that are not UTF-8", Buffer.from([0xff, 0x0a]), NDJSON, 400, undefined],
    ["a compressed body", "", { ...NDJSON, "content-encoding": "gzip" }, 415, undefined],
    ["another type", "", { "content-type": "text/plain" }, 415, undefined],
    ["a first line that is too long", lines({ prompt: "x".repeat(2000) }), NDJSON, 413, undefined],
    ["no output", { prompt: "" }, {}, 422, "/output"],
  ])("rejects a request with %s, with a status", async (_, body, headers, status, pointer) => {
    const { post } = await testServer({ output: [wordScanner("zebra")] }, { app: { maxBodySize: 1024 } });
    const reply = await post("/analyze/output/stream", body, headers);
    expect(reply.statusCode).toBe(status);
    expect(reply.headers["content-type"]).toBe("application/problem+json");
    if (pointer !== undefined) expect(reply.json().errors[0].pointer).toBe(pointer);
  });

  it.each<[string, string | Buffer, number]>([
    ["a line that is no step", lines({ text: 1 }), 422],
    ["a list", lines([]), 422],
    ["a line that is not JSON", "zebra\n", 400],
    ["bytes that are not UTF-8", Buffer.from([0xff, 0x0a]), 400],
    ["a line that is too long", lines("x".repeat(1100)), 413],
    ["too much in all", lines("x".repeat(900)).repeat(3), 413],
  ])("ends with a problem for %s", async (_, rest, status) => {
    const { post } = await testServer({ output: [] }, { app: { maxBodySize: 1024, maxStreamSize: 2048 } });
    const body = Buffer.concat([Buffer.from(lines({ prompt: "" }, "good")), Buffer.from(rest)]);
    const reply = await post("/analyze/output/stream", body, NDJSON);
    expect(reply.statusCode).toBe(200);
    const events = eventsOf(reply.payload);
    expect(events.at(-1)).toMatchObject({
      event: "error",
      status,
      title: expect.any(String),
      detail: expect.any(String),
    });
    expect(reply.payload).not.toContain("zebra");
  });

  it("reports a failing scanner, and quotes nothing", async () => {
    const failing = scannerOf("Broken", () => Promise.reject(new Error("zebra")));
    const { post } = await testServer({ output: [failing] });
    const reply = await post("/analyze/output/stream", lines({ prompt: "" }, "zebra"), NDJSON);
    expect(eventsOf(reply.payload)).toEqual([
      expect.objectContaining({ event: "error", status: 500, detail: "The scanner Broken failed." }),
    ]);
    expect(reply.payload).not.toContain("zebra");
  });

  it("times out if no line arrives", async () => {
    const { url } = await startGuardServer({}, { app: { streamIdleTimeout: 0.2 } });
    const silent = new Duplex(`${url}/analyze/output/stream`);
    silent.sent.flushHeaders();
    expect(await silent.status()).toBe(408);
    const begun = new Duplex(`${url}/analyze/output/stream`);
    await begun.write({ prompt: "" }, "x");
    expect(await begun.event()).toMatchObject({ event: "error", status: 408 });
    expect(await begun.event()).toBeUndefined();
  });

  it("requires a credential, and counts in the metrics", async () => {
    const auth = [{ type: "http_bearer" as const, token: "x" }];
    const { post, get } = await testServer({ output: [wordScanner("zebra")] }, { auth });
    expect((await post("/scan/output/stream", lines({ prompt: "" }), NDJSON)).statusCode).toBe(401);
    const authorization = "Bearer x";
    await post("/scan/output/stream", lines({ prompt: "" }, "zebra"), { ...NDJSON, authorization });
    const metrics = (await get("/metrics", { authorization })).payload;
    expect(metrics).toContain('guard_scanner_verdicts_total{source="output",scanner="Word",valid="false"} 1');
    expect(metrics).toContain('route="/scan/output/stream",status="200"} 1');
  });

  it("aborts the scan if the client disconnects", async () => {
    const { scanner, started, aborted } = waitingScanner();
    const { url } = await startGuardServer({ output: [scanner] });
    const duplex = new Duplex(`${url}/analyze/output/stream`);
    await duplex.write({ prompt: "" }, { text: "x", end: true });
    await started;
    duplex.sent.destroy();
    await aborted;
  });

  it("limits the number of concurrent streams", async () => {
    const { url } = await startGuardServer({}, { app: { queueSize: 1 } });
    const first = new Duplex(`${url}/analyze/output/stream`);
    await first.write({ prompt: "" });
    expect(await first.status()).toBe(200);
    const second = new Duplex(`${url}/analyze/output/stream`);
    await second.write({ prompt: "" });
    expect(await second.status()).toBe(503);
    first.sent.end();
    expect(await first.event()).toMatchObject({ event: "done" });
    const third = new Duplex(`${url}/analyze/output/stream`);
    third.sent.end(lines({ prompt: "" }));
    expect(await third.status()).toBe(200);
  });

  it("finishes streams when the server closes, and ends slow ones with an error event", async () => {
    const { url, close } = await startGuardServer({}, { app: { scanOutputTimeout: 1 } });
    const short = new Duplex(`${url}/analyze/output/stream`);
    const long = new Duplex(`${url}/analyze/output/stream`);
    for (const duplex of [short, long]) {
      await duplex.write({ prompt: "" }, "x");
      expect(await duplex.status()).toBe(200);
    }
    const closed = close();
    short.sent.end();
    expect(textOf([(await short.event()) ?? {}])).toBe("x");
    expect(await short.event()).toMatchObject({ event: "done" });
    expect(await long.event()).toMatchObject({ event: "error", status: 503 });
    expect(await long.event()).toBeUndefined();
    await closed;
  });
});

describe("POST /scan/output/stream", () => {
  it("returns the text unchanged, and nothing of a text that would be rewritten", async () => {
    const { post } = await testServer({ output: [wordScanner("zebra", { replacement: "***", vaultScope: "call" })] });
    const of = async (text: string) =>
      eventsOf((await post("/scan/output/stream", lines({ prompt: "" }, text), NDJSON)).payload);
    const horse = await of("a horse");
    expect(textOf(horse)).toBe("a horse");
    expect(horse.at(-1)).toMatchObject({ event: "done", outcome: "passed", scanners: { Word: -1 } });
    const zebra = await of("a zebra");
    expect(textOf(zebra)).toBe("");
    expect(zebra.at(-1)).toMatchObject({ event: "blocked", outcome: "blocked", scanners: { Word: 1 } });
  });
});
