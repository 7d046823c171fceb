import { Document } from "@langchain/core/documents";
import { FakeRetriever } from "@langchain/core/utils/testing";
import { expect, it } from "vitest";
import { guardRetriever } from "../../src/integrations/langchain.ts";
import { GuardError } from "../../src/support/errors.ts";
import { brokenGuard, FORBIDDEN, testGuard } from "../../test/support/guards.ts";

const documents = (...texts: string[]) =>
  texts.map((pageContent, index) => new Document({ pageContent, metadata: { index }, id: String(index) }));

it("omits blocked documents, and reports them", async () => {
  const inner = new FakeRetriever({ output: documents("one", `two ${FORBIDDEN}`, "three") });
  const dropped: unknown[] = [];
  const retriever = guardRetriever(inner, await testGuard(), {
    onDropped: (document, { report }) => void dropped.push([document, Object.keys(report.resultsScore)]),
  });
  const [one, two, three] = inner.output;
  expect(await retriever.invoke("Which?")).toEqual([one, three]);
  expect(dropped).toEqual([[two, expect.arrayContaining(["Forbidden"])]]);
});

it("replaces personal data in documents by placeholders, unless that scanner is omitted", async () => {
  const inner = new FakeRetriever({ output: documents("To ann@example.com", "To bob@example.com", "To all") });
  const guard = await testGuard();
  const seen: string[] = [];
  const retriever = guardRetriever(inner, guard, { onReport: (_, { outcome }) => void seen.push(outcome) });
  const callbacks = [
    { handleRetrieverEnd: (all: { pageContent: string }[]) => void seen.push(all[0]?.pageContent ?? "") },
  ];
  const found = await retriever.invoke("Whom?", { callbacks });
  expect(found.map(({ pageContent }) => pageContent)).toEqual([
    "To [REDACTED_EMAIL_ADDRESS_1]",
    "To [REDACTED_EMAIL_ADDRESS_2]",
    "To all",
  ]);
  expect(found[0]).toMatchObject({ metadata: { index: 0 }, id: "0" });
  expect(found[2]).toBe(inner.output[2]);
  expect(seen).toEqual(["masked", "To [REDACTED_EMAIL_ADDRESS_1]"]);
  const plain = guardRetriever(inner, guard, { suppress: ["Anonymize"] });
  expect(await plain.invoke("Whom?")).toEqual(inner.output);
});

it("fails if guard cannot check", async () => {
  const error = new GuardError("GUARD_OVERLOADED", "Too many scans are under way.");
  const retriever = guardRetriever(new FakeRetriever(), brokenGuard(error));
  await expect(retriever.invoke("Which?")).rejects.toBe(error);
  const empty = guardRetriever(new FakeRetriever({ output: [] }), brokenGuard(error));
  expect(await empty.invoke("Which?")).toEqual([]);
});
