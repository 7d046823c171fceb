import type { ServerResponse } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GuardReport } from "../../../src/guard/guard.ts";
import { input, output } from "../../../src/index.ts";
import type { AnswerStream } from "../../../src/stream/answer-stream.ts";
import { waitingScanner, wordScanner } from "../../server/fixtures.ts";
import { coverageReply } from "../../support/coverage-reply.ts";
import {
  localAndRemoteGuards,
  remoteGuard,
  startFakeGuardServer,
  startGuardServer,
} from "../../support/guard-server.ts";
import { comparable } from "../../support/guards.ts";

const SECRET = "hunter2-is-secret";
const LINES = { "content-type": "application/x-ndjson" };
const COVERAGE = coverageReply(4);
const DONE = {
  ...{ event: "done", is_valid: true, outcome: "passed", scanners: {}, findings: {}, checks: [], coverage: COVERAGE },
};

/** Drives a stream as wrapped clients do: it flushes text that waits. */
async function driven(
  stream: AnswerStream<GuardReport>,
  pieces: readonly string[],
): Promise<{ text: string; report: GuardReport }> {
  let text = "";
  for (const piece of pieces) {
    const step = await stream.push(piece);
    text += step.text;
    if (step.report) return { text, report: step.report };
    if (stream.waiting !== undefined && stream.waiting < 10) {
      const flushed = await stream.flush();
      text += flushed.text;
      if (flushed.report) return { text, report: flushed.report };
    }
  }
  const last = await stream.end();
  return { text: text + last.text, report: last.report as GuardReport };
}

/** A server that responds to the first line with status 200, and to every later line with `answer`. */
function answering(answer: (line: string, response: ServerResponse) => void) {
  return startFakeGuardServer((response, request) => {
    response.writeHead(200, LINES).flushHeaders();
    let isFirst = true;
    request.setEncoding("utf8").on("data", (lines: string) => {
      for (const line of lines.split("\n").filter(Boolean)) {
        if (!isFirst) answer(line, response);
        isFirst = false;
      }
    });
  });
}

const event = (value: unknown) => `${JSON.stringify(value)}\n`;

describe("the answer stream of RemoteGuard", () => {
  it("gives the same results as the scanners of this process", { timeout: 120_000 }, async () => {
    const { here, remote } = await localAndRemoteGuards(() => ({
      input: [new input.Anonymize()],
      output: [new output.Deanonymize(), new output.Secrets(), wordScanner("zebra", { name: "Zebra" })],
    }));
    const word = fc.constantFrom(
      "zebra ",
      "Hello. ",
      "[REDACTED_EMAIL_ADDRESS_1] ",
      "😀 ",
      "a\n",
      '{"b": ["',
      "\u2028",
    );
    const pieces = fc
      .tuple(fc.array(word, { maxLength: 30 }), fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }))
      .map(([words, lengths]) => {
        const text = words.join("");
        const pieces: string[] = [];
        for (let at = 0, next = 0; at < text.length; next++) {
          const length = lengths[next % lengths.length] as number;
          pieces.push(text.slice(at, at + length));
          at += length;
        }
        return pieces;
      });
    await fc.assert(
      fc.asyncProperty(pieces, async (pieces) => {
        const [local, other] = await Promise.all(
          [here, remote].map(async (guard) => {
            const call = guard.call();
            await call.request({ messages: [{ role: "user", content: "Write to ann@example.org" }] });
            const { report, text } = await driven(call.answerStream(), pieces);
            return { report: comparable(report as GuardReport), text };
          }),
        );
        expect(other).toEqual(local);
      }),
      { numRuns: 30 },
    );
  });

  it("accepts long pieces and pieces that end within a character", async () => {
    const { url } = await startGuardServer({ output: [wordScanner("zebra")] });
    const text = `${"😀 ".repeat(100_000)}.`;
    const pieces = [text.slice(0, 150_001), text.slice(150_001, 150_002), text.slice(150_002)];
    const result = await driven(remoteGuard({ url }).call().answerStream(), pieces);
    expect(result.text === text).toBe(true);
    expect(result.report.outcome).toBe("passed");
  });

  it("supports several streams at once, and an empty one", async () => {
    const { url } = await startGuardServer({ output: [wordScanner("zebra")] });
    const call = remoteGuard({ url }).call();
    const texts = Array.from({ length: 20 }, (_, index) => (index % 3 === 0 ? "a zebra" : `number ${index}`));
    const results = await Promise.all(texts.map((text) => driven(call.answerStream(), [...text])));
    for (const [index, { report, text }] of results.entries()) {
      expect(report.outcome).toBe(index % 3 === 0 ? "blocked" : "passed");
      if (index % 3 !== 0) expect(text).toBe(texts[index]);
    }
    expect(await driven(call.answerStream(), [])).toMatchObject({ text: "", report: { outcome: "passed" } });
  });

  it("accepts no piece after the end", async () => {
    const { url } = await startGuardServer({});
    const stream = remoteGuard({ url }).call().answerStream();
    expect(stream.waiting).toBeUndefined();
    expect(await stream.flush()).toEqual({ text: "" });
    await driven(stream, ["x"]);
    expect(stream.waiting).toBeUndefined();
    const late = [stream.push("x"), stream.end(), stream.flush()];
    await Promise.all(late.map((call) => expect(call).rejects.toMatchObject({ code: "GUARD_CLOSED" })));
  });

  it("does not wait for each piece when the server is far away, and loses nothing", async () => {
    const { url } = await answering((line, response) => {
      const { text, end } = JSON.parse(line);
      const reply = end ? DONE : { event: "text", text, waiting: null };
      setTimeout(() => response.write(event(reply), () => end && response.end()), 60);
    });
    const stream = remoteGuard({ url }).call().answerStream();
    let text = "";
    for (const piece of "abcdefghij") text += (await stream.push(piece)).text;
    expect(text.length).toBeLessThan(10);
    expect(stream.waiting).toBeLessThan(10);
    text += (await stream.flush()).text;
    expect(text).toBe("abcdefghij");
    expect(stream.waiting).toBeUndefined();
    expect(await stream.end()).toMatchObject({ text: "", report: { outcome: "passed" } });
  });

  it("returns text released before the answer was blocked, and then the report", async () => {
    const { url } = await answering((line, response) => {
      if (line.includes('"b"')) response.end(event({ ...DONE, event: "blocked", is_valid: false, outcome: "blocked" }));
      else setTimeout(() => response.write(event({ event: "text", text: "a" })), 20);
    });
    const stream = remoteGuard({ url }).call().answerStream();
    const steps = [await stream.push("a"), await stream.push("b")];
    while (!steps.at(-1)?.report) steps.push(await stream.flush());
    expect(steps.filter(({ report }) => report)).toMatchObject([{ text: "", report: { outcome: "blocked" } }]);
  });

  it("asks the server to release text that has waited", async () => {
    const asked: string[] = [];
    const { url } = await answering((line, response) => {
      asked.push(line);
      const isFlush = line.includes("flush");
      response.write(event({ event: "text", text: isFlush ? "held" : "", waiting: isFlush ? null : 500 }));
    });
    const stream = remoteGuard({ url }).call().answerStream();
    while ((await stream.push("x")).text === "" && stream.waiting !== 500);
    expect(await stream.flush()).toEqual({ text: "held" });
    expect(stream.waiting).toBeUndefined();
    expect(asked.at(-1)).toBe('{"flush":true}');
  });

  it("ends with the signal of the call, and so does the scan on the server", async () => {
    const { scanner, started, aborted } = waitingScanner();
    const { url } = await startGuardServer({ output: [scanner] });
    const stop = new AbortController();
    const stream = remoteGuard({ url }).call({ signal: stop.signal }).answerStream();
    await stream.push("x");
    const ended = stream.end();
    await started;
    const reason = new Error("enough");
    stop.abort(reason);
    await expect(ended).rejects.toBe(reason);
    await aborted;
  });

  it.each<[string, Parameters<typeof answering>[0]]>([
    ["hangs up", (_, response) => response.destroy()],
    ["ends too early", (_, response) => response.end()],
    ["answers nothing", () => {}],
    ["answers something else", (_, response) => response.end("zebra\n")],
    ["has an unknown event", (_, response) => response.write(event({ event: "go", text: "x" }))],
    ["has an event without its text", (_, response) => response.write(event({ event: "text" }))],
    ["answers more than was asked", (_, response) => response.write(event({ event: "text", text: "x" }).repeat(3))],
    ["passes without a report", (_, response) => response.end(event({ event: "done" }))],
    ["contradicts itself", (_, response) => response.end(event({ ...DONE, is_valid: false }))],
    [
      "calls an end done that is blocked",
      (_, response) => response.end(event({ ...DONE, outcome: "blocked", is_valid: false })),
    ],
    ["tells of a problem", (_, response) => response.end(event({ event: "error", status: 500, detail: SECRET }))],
    ["quotes the text", (_, response) => response.end(event({ event: SECRET }))],
    ["breaks off in a line", (_, response) => response.end('{"event": "te')],
  ])("fails closed when the server %s", async (_, answer) => {
    const { url } = await answering(answer);
    const stream = remoteGuard({ url, timeout: 300 }).call().answerStream();
    const error = await driven(stream, [SECRET, SECRET]).then(
      () => expect.fail("it passed"),
      (error) => error,
    );
    expect(error.code).toBe("GUARD_UNREACHABLE");
    expect(`${error.message} ${error.cause?.message}`).not.toContain(SECRET);
    await expect(stream.push("x")).rejects.toBe(error);
    await expect(stream.end()).rejects.toBe(error);
  });

  it("retries a temporary refusal when it opens", async () => {
    let refusals = 1;
    const { url, calls } = await startFakeGuardServer((response, request) => {
      if (refusals-- > 0) {
        request.resume();
        response.writeHead(503, { "retry-after": "0" }).end();
        return;
      }
      response.writeHead(200, LINES).flushHeaders();
      request.resume().on("end", () => response.end(event(DONE)));
    });
    expect(await driven(remoteGuard({ url }).call().answerStream(), [])).toMatchObject({ text: "" });
    expect(calls()).toBe(2);
  });
});
