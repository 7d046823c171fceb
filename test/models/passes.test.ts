import { describe, expect, it } from "vitest";
import { Passes } from "../../src/models/passes.ts";

/** A model that counts how often it is asked, and answers when told to. */
function model() {
  const asked: string[] = [];
  return {
    asked,
    ask: (text: string) => async () => {
      asked.push(text);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return text.length;
    },
  };
}

/** A question that is answered when its signal is aborted, with the reason. */
function untilAborted(signal: AbortSignal) {
  return () =>
    new Promise<number>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
}

describe("the passes of a call", () => {
  it("are made once, for those who ask at the same time and for those who ask later", async () => {
    const passes = new Passes();
    const { asked, ask } = model();
    const together = await Promise.all(["four", "four", "three"].map((text) => passes.share("q", text, ask(text))));
    expect(together).toEqual([4, 4, 5]);
    expect(await passes.share("q", "four", ask("four"))).toBe(4);
    expect(asked).toEqual(["four", "three"]);
    await passes.share("another", "four", ask("four"));
    expect(asked).toHaveLength(3);
  });

  it("keep no failure", async () => {
    const passes = new Passes();
    const fail = () => Promise.reject(new Error("out of luck"));
    const { ask } = model();
    const [first, second] = await Promise.allSettled([
      passes.share("q", "four", fail),
      passes.share("q", "four", fail),
    ]);
    expect([first.status, second.status]).toEqual(["rejected", "rejected"]);
    expect(await passes.share("q", "four", ask("four"))).toBe(4);
  });

  it("go on for the others when whoever asked first gives up", async () => {
    const passes = new Passes();
    const { asked, ask } = model();
    const first = new AbortController();
    const given = passes.share("q", "four", untilAborted(first.signal), first.signal);
    const others = [1, 2].map(() => passes.share("q", "four", ask("four"), new AbortController().signal));
    first.abort(new Error("changed my mind"));
    await expect(given).rejects.toThrow("changed my mind");
    expect(await Promise.all(others)).toEqual([4, 4]);
    expect(asked).toEqual(["four"]);
  });

  it("keep nobody waiting who gives up", async () => {
    const passes = new Passes();
    const forever = new AbortController();
    const first = passes.share("q", "four", untilAborted(forever.signal), forever.signal);
    const second = new AbortController();
    const waiting = passes.share("q", "four", model().ask("four"), second.signal);
    second.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    forever.abort(new Error("the end"));
    await expect(first).rejects.toThrow("the end");
  });
});
