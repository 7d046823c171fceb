import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { CallContext } from "../models/call-context.ts";
import { checkedDetection } from "../scan/checked-verdict.ts";
import type { Scanner } from "../scan/scanner.ts";
import { round } from "../scan/score.ts";
import { GuardError, GuardValidationError } from "../support/errors.ts";
import { parseOptions } from "../support/options.ts";
import { describeKind } from "../support/schema-messages.ts";
import { mapTexts } from "./map-texts.ts";

/** The options of {@link ConversationRisk}. */
export const conversationRiskOptions = z.strictObject({
  threshold: z
    .number()
    .positive()
    .default(1.2)
    .describe("The conversation is flagged when the decayed sum reaches this."),
  decay: z.number().min(0).max(1).default(0.7).describe("Weight of a message's score per user message of age."),
  toolWeight: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe(
      "Weight of the worst tool result between two user messages, beside that of its age; 0 leaves tool results out: they are judged by themselves.",
    ),
  minScore: z.number().min(0).default(0.2).describe("Scores below this do not add up."),
  cacheSize: z.number().int().min(0).default(10_000).describe("Scores of messages that are kept; no text is."),
});

/**
 * Scores a text; 0 means that it has no risk. `context.answers` holds what models have already answered in this call, so that a scorer that
 * asks a model does not ask it twice.
 */
export type ScoringFunction = (text: string, context: CallContext) => number | Promise<number>;

/** A scanner that has `detect()`, which returns the raw probability of an attack. */
export type DetectingScanner = Scanner & Required<Pick<Scanner, "detect">>;

/** The result of {@link ConversationRisk.assess}. */
export interface RiskAssessment {
  isValid: boolean;
  /** The score is -1..-0.01 when the conversation passes, and 0.01..1 when it is flagged. */
  score: number;
  /** The decayed sum that was compared with the threshold. */
  total: number;
  /** The scores of the user messages, with the oldest message first. */
  scores: number[];
  /** The scores of the tool results, in their order. */
  toolScores: number[];
}

/** A tool result, as the accumulated risk sees it. */
export interface AgedText {
  text: string;
  /** How many user messages there are behind it. */
  age: number;
}

/**
 * Adds up risk over the user messages of a conversation, to catch attacks that escalate slowly.
 *
 * Let `s` be the score of a user message and `a` its age in user messages (0 for the latest). The sum of `s * decay ** a` over the
 * messages with `s >= minScore` is compared with `threshold`. Of the tool results of one age only the worst adds to it, with
 * `toolWeight`: how many documents a search returns says nothing of an attack. Scores of messages are cached, so that a call pays only for its new
 * messages. Make one object and use it for all conversations.
 */
export class ConversationRisk {
  readonly threshold: number;
  readonly decay: number;
  readonly minScore: number;
  readonly toolWeight: number;
  readonly #score: ScoringFunction;
  /**
   * Texts are stored as hashes that are keyed with a secret of this object, so that a key reveals nothing about its text and two
   * objects with different scorers never share an entry.
   */
  #cache: LRUCache<string, number> | undefined;
  #cacheKey: Buffer = randomBytes(32);

  /**
   * @param score the scoring function.
   * @throws GuardValidationError for an option out of range.
   */
  constructor(score: ScoringFunction, options: z.input<typeof conversationRiskOptions> = {}) {
    if (typeof score !== "function") {
      throw new GuardValidationError([{ path: "score", message: "expected a function from a text to a number" }]);
    }
    const { threshold, decay, minScore, toolWeight, cacheSize } = parseOptions(conversationRiskOptions, options);
    this.threshold = threshold;
    this.decay = decay;
    this.minScore = minScore;
    this.toolWeight = toolWeight;
    this.#score = score;
    this.#cache = cacheSize > 0 ? new LRUCache({ max: cacheSize }) : undefined;
  }

  /**
   * Scores messages by the raw probability that a scanner returns, so that texts below the scanner's own threshold add to the risk
   * too.
   */
  static fromScanner(
    scanner: DetectingScanner,
    options: z.input<typeof conversationRiskOptions> = {},
  ): ConversationRisk {
    if (typeof scanner?.detect !== "function") {
      throw new GuardValidationError([
        { path: "scanner", message: "expected a scanner with detect(), which tells the probability of an attack" },
      ]);
    }
    return new ConversationRisk(
      async (text, { signal, answers }) => checkedDetection(await scanner.detect(text, { signal, answers })).score,
      options,
    );
  }

  /**
   * The same with scores that are kept for one caller alone. All callers share the room for kept scores, but none can tell from the
   * time of an answer what another one sent.
   *
   * @param caller a text that tells callers apart. Without it this object itself is returned.
   */
  forCaller(caller: string | undefined): ConversationRisk {
    if (caller === undefined) return this;
    const { threshold, decay, minScore, toolWeight } = this;
    const own = new ConversationRisk(this.#score, { threshold, decay, minScore, toolWeight, cacheSize: 0 });
    own.#cache = this.#cache;
    own.#cacheKey = createHmac("sha256", this.#cacheKey).update(caller).digest();
    return own;
  }

  /** Assesses a conversation. `userTexts` begins with the oldest message. */
  async assess(
    userTexts: readonly string[],
    context: CallContext = {},
    toolTexts: readonly AgedText[] = [],
  ): Promise<RiskAssessment> {
    const ofTools = this.toolWeight > 0 ? toolTexts : [];
    const all = await mapTexts([...userTexts, ...ofTools.map(({ text }) => text)], (text) =>
      this.#scoreOf(text, context),
    );
    const scores = all.slice(0, userTexts.length);
    const toolScores = all.slice(userTexts.length);
    let total = 0;
    for (const [index, score] of scores.entries()) {
      if (score >= this.minScore) total += score * this.decay ** (scores.length - 1 - index);
    }
    const worstByAge = new Map<number, number>();
    for (const [index, { age }] of ofTools.entries()) {
      worstByAge.set(age, Math.max(worstByAge.get(age) ?? 0, toolScores[index] as number));
    }
    for (const [age, score] of worstByAge) {
      if (score >= this.minScore) total += this.toolWeight * score * this.decay ** age;
    }
    const distance = (total - this.threshold) / this.threshold;
    const isValid = total < this.threshold;
    const score = isValid
      ? Math.min(-0.01, round(Math.max(-1, distance), 2))
      : round(Math.min(1, Math.max(0.01, distance)), 2);
    return { isValid, score, total, scores, toolScores };
  }

  async #scoreOf(text: string, context: CallContext): Promise<number> {
    if (text.trim() === "") return 0;
    const key = createHmac("sha256", this.#cacheKey).update(text, "utf16le").digest("base64");
    const cached = this.#cache?.get(key);
    if (cached !== undefined) return cached;
    const score = await this.#score(text, context);
    if (!Number.isFinite(score) || score < 0) {
      // Only numbers are quoted: a function that returns a text may return the one that it was given.
      const returned = typeof score === "number" ? score : describeKind(score);
      throw new GuardError(
        "GUARD_SCANNER",
        `the scoring function returned ${returned} where a number from 0 on was due`,
      );
    }
    this.#cache?.set(key, score);
    return score;
  }
}
