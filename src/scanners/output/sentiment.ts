import type { z } from "zod";
import { SentimentScanner, sentimentOptions } from "../shared/sentiment.ts";

const schema = sentimentOptions(-0.1);

/** Fails outputs whose sentiment is not above a threshold, by default -0.1. */
export class Sentiment extends SentimentScanner {
  static readonly type = "Sentiment";
  static readonly options = schema;

  constructor(options: z.input<typeof schema> = {}) {
    super(Sentiment.type, schema, options);
  }
}
