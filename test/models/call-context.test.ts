import { describe, expect, it } from "vitest";
import { AnswerCache } from "../../src/models/call-context.ts";

/** A model that counts its calls, and answers when the test tells it to. */
function model() {
  const asked: string[] = [];
  return {
    asked,
    ask: (text: string) => async () => {
      asked.push(text);
      await new Promise(setImmediate);
      return text.length;
    },
  };
}

/** A call that rejects with the signal's reason when the signal is aborted. */
function untilAborted(signal: AbortSignal) {
  return () =>
    new Promise<number>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
}

describe("the answers of a call", () => {
  it("are computed once, for concurrent and later calls", async () => {
    const answers = new AnswerCache();
    const { asked, ask } = model();
    const together = await Promise.all(["four", "four", "three"].map((text) => answers.share("q", text, ask(text))));
    expect(together).toEqual([4, 4, 5]);
    expect(await answers.share("q", "four", ask("four"))).toBe(4);
    expect(asked).toEqual(["four", "three"]);
    await answers.share("another", "four", ask("four"));
    expect(asked).toHaveLength(3);
  });

  it("do not include failures", async () => {
    const answers = new AnswerCache();
    const fail = () => Promise.reject(new Error("out of luck"));
    const { ask } = model();
    const [first, second] = await Promise.allSettled([
      answers.share("q", "four", fail),
      answers.share("q", "four", fail),
    ]);
    expect([first.status, second.status]).toEqual(["rejected", "rejected"]);
    expect(await answers.share("q", "four", ask("four"))).toBe(4);
  });

  it("continue for other callers if the first one aborts", async () => {
    const answers = new AnswerCache();
    const { asked, ask } = model();
    const first = new AbortController();
    const given = answers.share("q", "four", untilAborted(first.signal), first.signal);
    const others = [1, 2].map(() => answers.share("q", "four", ask("four"), new AbortController().signal));
    first.abort(new Error("changed my mind"));
    await expect(given).rejects.toThrow("changed my mind");
    expect(await Promise.all(others)).toEqual([4, 4]);
    expect(asked).toEqual(["four"]);
  });

  it("are not awaited after an abort", async () => {
    const answers = new AnswerCache();
    const forever = new AbortController();
    const first = answers.share("q", "four", untilAborted(forever.signal), forever.signal);
    const second = new AbortController();
    const waiting = answers.share("q", "four", model().ask("four"), second.signal);
    second.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    forever.abort(new Error("the end"));
    await expect(first).rejects.toThrow("the end");
  });

  it("sum up the timings of each model", () => {
    const answers = new AnswerCache();
    answers.addTimings("a", { queued: 1, tokenized: 2, inferred: 3 });
    answers.addTimings("b", { queued: 5, tokenized: 5, inferred: 5 });
    answers.addTimings("a", { queued: 10, tokenized: 20, inferred: 30 });
    expect(answers.timings).toEqual({
      a: { queued: 11, tokenized: 22, inferred: 33 },
      b: { queued: 5, tokenized: 5, inferred: 5 },
    });
  });
});
