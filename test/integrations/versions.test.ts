import Anthropic from "@anthropic-ai/sdk";
import { wrapEmbeddingModel, wrapLanguageModel } from "ai";
import OpenAI, { AzureOpenAI } from "openai";
import { describe, expect, it } from "vitest";
import { guardEmbeddingMiddleware, guardMiddleware } from "../../src/integrations/ai-sdk.ts";
import { guardAnthropic } from "../../src/integrations/anthropic.ts";
import { guardOpenAI } from "../../src/integrations/openai.ts";
import { PassThroughGuard } from "../support/pass-through-guard.ts";

const guard = new PassThroughGuard();

/** A client of an older version. Its version is in the header `User-Agent` that it sends. */
function withVersion<Client extends object>(client: Client, version: string): Client {
  return Object.assign(client, { getUserAgent: () => `${client.constructor.name}/JS ${version}` });
}

describe("a client of an unsupported version", () => {
  it.each([
    ["OpenAI", new OpenAI({ apiKey: "key" })],
    ["Azure", new AzureOpenAI({ apiKey: "key", endpoint: "http://azure", apiVersion: "1" })],
  ])("is rejected: %s", (_, client) => {
    expect(guardOpenAI(client, guard)).toBeInstanceOf(OpenAI);
    expect(() => guardOpenAI(withVersion(client, "5.23.2"), guard)).toThrow(
      "guard supports openai >=6, and 5.23.2 is installed: npm install openai@6",
    );
  });

  it("is rejected: Anthropic", () => {
    const client = new Anthropic({ apiKey: "key" });
    expect(guardAnthropic(client, guard)).toBeInstanceOf(Anthropic);
    expect(() => guardAnthropic(withVersion(client, "0.60.0"), guard)).toThrow(
      "guard supports @anthropic-ai/sdk >=1, and 0.60.0 is installed: npm install @anthropic-ai/sdk@1",
    );
  });

  it("is rejected: a model of the AI SDK", async () => {
    // Each major version of @ai-sdk/provider has a version of the specification.
    const model = { specificationVersion: "v2", provider: "test", modelId: "test", supportedUrls: {} } as never;
    const refusal = "guard supports @ai-sdk/provider ^3, and 2 is installed: npm install @ai-sdk/provider@3";
    const wrapped = wrapLanguageModel({ model, middleware: guardMiddleware(guard) });
    await expect(wrapped.doGenerate({ prompt: [] })).rejects.toThrow(refusal);
    await expect(wrapped.doStream({ prompt: [] })).rejects.toThrow(refusal);
    const embedding = wrapEmbeddingModel({ model, middleware: guardEmbeddingMiddleware(guard) });
    await expect(embedding.doEmbed({ values: ["text"] })).rejects.toThrow(refusal);
  });
});
