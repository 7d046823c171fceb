import { describe, expect, it } from "vitest";
import { guardedFetch } from "../../src/http-formats/guarded-fetch.ts";
import {
  createGuard,
  Exceptions,
  GuardBlockedError,
  input,
  type ScanReport,
  scanConversation,
  scanDocuments,
  scanPrompt,
} from "../../src/index.ts";
import { passed, type Scanner, wholeText } from "../../src/scan/scanner.ts";
import { riskScore } from "../../src/scan/score.ts";
import { serviceWith } from "../support/service.ts";

/** The probability in a text: `p=0.6`. */
const probabilityOf = (text: string) =>
  Math.max(0, ...[...text.matchAll(/p=([\d.]+\d)/g)].map(([, value]) => Number(value)));

const injection = (options: object = {}) =>
  new input.PromptInjection({ threshold: 0.9, reviewThreshold: 0.5, classifier: probabilityOf, ...options });

/** A scanner of answers that judges sentence by sentence. */
const sentences: Scanner = {
  type: "Tone",
  name: "Tone",
  sanitizes: false,
  reviewThreshold: 0.5,
  streaming: { reads: "sentences", overlap: 0 },
  async scan(text) {
    const probability = probabilityOf(text);
    const score = riskScore(probability, 0.9);
    return { ...passed(text), isValid: score < 0, score, probability, coverage: wholeText(text) };
  },
};

const outcomes = ({ checks }: Pick<ScanReport, "checks">) => checks.map(({ scope, outcome }) => `${scope} ${outcome}`);
const except = (text: string) =>
  Exceptions.of([{ scanners: ["PromptInjection"], text, reason: "known", expires: "2999-12-31" }]);

describe("a review threshold", () => {
  it("puts the texts between the two thresholds into review, and leaves their verdict alone", async () => {
    const reports = await Promise.all(["p=0.5", "p=0.6", "p=0.95"].map((text) => scanPrompt([injection()], text)));
    expect(reports.map(({ checks }) => checks[0]?.outcome)).toEqual(["passed", "review", "flagged"]);
    expect(reports.map(({ isValid }) => isValid)).toEqual([true, true, false]);
    expect(reports[1]?.resultsScore.PromptInjection).toBeLessThan(0);
    expect(reports[1]?.checks[0]?.inReview).toEqual([{ text: "p=0.6", source: "user", probability: 0.6 }]);
  });

  it("must be below the threshold", () => {
    expect(() => injection({ reviewThreshold: 0.9 })).toThrow("reviewThreshold: must be below threshold, which is 0.9");
    expect(() => injection({ reviewThreshold: { fpr: 0.01 } })).toThrow("reviewThreshold.fpr: there is no curve");
    expect(
      () => new input.PromptInjection({ reviewThreshold: { fpr: 0.01 }, threshold: { fpr: 0.001 } }),
    ).not.toThrow();
    expect(() => new input.PromptInjection({ reviewThreshold: { fpr: 0.001 }, threshold: { fpr: 0.01 } })).toThrow(
      "must be below threshold",
    );
  });

  it("has no effect on exact texts, sources and credentials that are excepted", async () => {
    const exceptions = except("p=0.6");
    expect(outcomes(await scanPrompt([injection()], "p=0.6", { exceptions }))).toEqual(["latest passed"]);
    expect(outcomes(await scanPrompt([injection()], "p=0.6, more", { exceptions }))).toEqual(["latest review"]);
    const ofCredential = Exceptions.of([
      { scanners: ["PromptInjection"], credentials: ["tests"], reason: "tests", expires: "2999-12-31" },
    ]);
    const options = { exceptions: ofCredential, credential: "tests" };
    expect(outcomes(await scanPrompt([injection()], "p=0.6", options))).toEqual(["latest passed"]);
  });

  it("is only reported in monitor mode", async () => {
    const { service, request } = await serviceWith({ input: [injection({ mode: "monitor" })] });
    const report = await service.prompt("p=0.6", request());
    expect(report).toMatchObject({
      isValid: true,
      outcome: "passed",
      checks: [{ outcome: "review", mode: "monitor" }],
    });
  });

  it("holds for windows, histories and documents", async () => {
    const user = (content: string) => ({ role: "user", content });
    const messages = [user("p=0.6"), { role: "assistant", content: "Well." }, user("Hello again.")];
    const report = await scanConversation([injection()], messages);
    expect(outcomes(report)).toEqual(["latest passed", "window review", "history review"]);
    const approved = await scanConversation([injection()], messages, { exceptions: except("p=0.6") });
    expect(outcomes(approved)).toEqual(["latest passed", "window passed", "history passed"]);
    const { documents } = await scanDocuments([injection()], ["p=0.6", "p=0.1"]);
    expect(documents.map(({ checks }) => checks[0]?.outcome)).toEqual(["review", "passed"]);
  });
});

describe("a service", () => {
  it("holds texts in review", async () => {
    const { service, request } = await serviceWith({ input: [injection()], output: [sentences] });
    const held = { isValid: false, outcome: "review" };
    expect(await service.prompt("p=0.6", request())).toMatchObject(held);
    expect(await service.conversation({ messages: [{ role: "user", content: "p=0.6" }] }, request())).toMatchObject(
      held,
    );
    expect(await service.output("", "p=0.6", request())).toMatchObject(held);
    const documents = await service.documents(["p=0.6", "p=0.1"], request());
    expect(documents).toMatchObject({ ...held, documents: [{ isValid: false }, { isValid: true }] });
    expect(await service.prompt("p=0.95", request())).toMatchObject({ isValid: false, outcome: "blocked" });
    expect(await service.documents(["p=0.6", "p=0.95"], request())).toMatchObject({ outcome: "blocked" });
  });

  it("lets them pass marked if it is configured", async () => {
    const { service, request } = await serviceWith({ input: [injection()], output: [sentences] }, { review: "pass" });
    const marked = { isValid: true, outcome: "review" };
    expect(await service.prompt("p=0.6", request())).toMatchObject(marked);
    expect(await service.documents(["p=0.6"], request())).toMatchObject({ ...marked, documents: [{ isValid: true }] });
  });

  it("says blocked before review, and review before masked", async () => {
    const scanners = [new input.Anonymize({ recognizerConf: [] }), injection()];
    const of = async (text: string, review: "hold" | "pass") => {
      const { service, request } = await serviceWith({ input: scanners }, { review });
      const { outcome, isValid } = await service.prompt(text, request());
      return `${outcome} ${isValid}`;
    };
    const mail = "Write to ann@example.org.";
    expect(await of(`${mail} p=0.95`, "hold")).toBe("blocked false");
    expect(await of(`${mail} p=0.6`, "hold")).toBe("review false");
    // The text may be used as rewritten only.
    expect(await of(`${mail} p=0.6`, "pass")).toBe("masked false");
    expect(await of(mail, "hold")).toBe("masked false");
  });

  it("ends a streamed answer at a part in review, or marks it", async () => {
    const read = async (review: "hold" | "pass") => {
      const { service, request } = await serviceWith({ output: [sentences] }, { review });
      const stream = service.outputStream("", request());
      let text = "";
      for (const piece of [
        "All is well here. ",
        "Now p=0.6 is said. ",
        "And more follows here. ",
        "The end is near.",
      ]) {
        const step = await stream.push(piece);
        text += step.text;
        if (step.report) return { text, report: step.report };
      }
      const step = await stream.end();
      return { text: text + step.text, report: step.report };
    };
    const held = await read("hold");
    expect(held.text).not.toContain("p=0.6");
    expect(held.report).toMatchObject({ isValid: false, outcome: "review" });
    const marked = await read("pass");
    expect(marked.text).toContain("The end is near.");
    expect(marked.report).toMatchObject({ isValid: true, outcome: "review" });
  });
});

describe("a guard", () => {
  it("throws for a request in review, and says which check holds it", async () => {
    const guard = await createGuard({ input: [injection()] });
    const { report } = await guard.call().request({ messages: [{ role: "user", content: "p=0.6" }] });
    const error = new GuardBlockedError("request", report);
    expect(error.outcome).toBe("review");
    expect(error.message).toBe(
      "The request is held by guard until a person has approved it: PromptInjection, PromptInjection[window].",
    );
    await guard.close();
  });

  it("answers a held call of a provider with an error of its own", async () => {
    const guard = await createGuard({ input: [injection()] });
    const sent: string[] = [];
    const send = guardedFetch(guard, {
      onBlocked: "respond",
      fetch: async (url) => {
        sent.push(String(url));
        return Response.json({ choices: [] });
      },
    });
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "p=0.6" }] });
    const reply = await send("https://provider.example/v1/chat/completions", { method: "POST", body });
    expect(sent).toEqual([]);
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { code: "review_required" } }]);
    await guard.close();
  });
});
