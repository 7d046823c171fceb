import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { CallContext } from "../models/call-context.ts";
import { checkedDetection } from "../scan/checked-verdict.ts";
import { MODES, type Mode } from "../scan/mode.ts";
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
  mode: z
    .enum(MODES)
    .optional()
    .describe(
      "enforce: a failing conversation is blocked. monitor: it goes on, and the report tells that it would have been blocked. off: the risk is not computed. Default: enforce.",
    ),
  cacheSize: z.number().int().min(0).default(10_000).describe("Scores of messages that are kept; no text is."),
});

/**
 * Scores a text. 0 means no risk. `context.answers` contains the answers of models in this call, so that a scorer with a model does not run
 * it twice.
 */
export type ScoringFunction = (text: string, context: CallContext) => number | Promise<number>;

/** A scanner with `detect()`, which returns the raw probability of an attack. */
export type DetectingScanner = Scanner & Required<Pick<Scanner, "detect">>;

/** The result of {@link ConversationRisk.assess}. */
export interface RiskAssessment {
  isValid: boolean;
  /** The score: -1..-0.01 if the conversation passes, and 0.01..1 if it fails. */
  score: number;
  /** The decayed sum, which is compared with the threshold. */
  total: number;
  /** The scores of the user messages, oldest first. */
  scores: number[];
  /** The scores of the tool results, in order. */
  toolScores: number[];
}

/** A tool result for the accumulated risk. */
export interface AgedText {
  text: string;
  /** The number of user messages after it. */
  age: number;
}

/**
 * Accumulates risk over the user messages of a conversation, to catch attacks that escalate slowly.
 *
 * Let `s` be the score of a user message and `a` its age in user messages (0 for the latest). The sum of `s * decay ** a` over the
 * messages with `s >= minScore` is compared with `threshold`. The worst tool result of each age adds to the sum with `toolWeight`. Only
 * the worst counts, because the number of documents in a search result says nothing about an attack. Scores are cached, so that a call
 * scores only its new messages. Create one object for all conversations.
 */
export class ConversationRisk {
  readonly threshold: number;
  readonly decay: number;
  readonly minScore: number;
  readonly toolWeight: number;
  readonly mode: Mode | undefined;
  readonly #score: ScoringFunction;
  /**
   * Texts are stored as hashes, keyed with a secret of this object. So a key reveals nothing about its text, and two objects with
   * different scorers never share an entry.
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
    const { threshold, decay, minScore, toolWeight, mode, cacheSize } = parseOptions(conversationRiskOptions, options);
    this.threshold = threshold;
    this.decay = decay;
    this.minScore = minScore;
    this.toolWeight = toolWeight;
    this.mode = mode;
    this.#score = score;
    this.#cache = cacheSize > 0 ? new LRUCache({ max: cacheSize }) : undefined;
  }

  /** Creates an object that scores messages by the raw probability of a scanner. Texts below the scanner's threshold add to the risk too. */
  static fromScanner(
    scanner: DetectingScanner,
    options: z.input<typeof conversationRiskOptions> = {},
  ): ConversationRisk {
    if (typeof scanner?.detect !== "function") {
      throw new GuardValidationError([
        { path: "scanner", message: "expected a scanner with detect(), which returns the probability of an attack" },
      ]);
    }
    return new ConversationRisk(
      async (text, { signal, answers }) => checkedDetection(await scanner.detect(text, { signal, answers })).score,
      options,
    );
  }

  /**
   * Returns an object with separate scores for one caller. All callers share the capacity of the cache, but no caller can tell from the
   * time of an answer what another caller sent.
   *
   * @param caller identifies the caller. Without it, this object is returned.
   */
  forCaller(caller: string | undefined): ConversationRisk {
    if (caller === undefined) return this;
    const { threshold, decay, minScore, toolWeight, mode } = this;
    const own = new ConversationRisk(this.#score, { threshold, decay, minScore, toolWeight, mode, cacheSize: 0 });
    own.#cache = this.#cache;
    own.#cacheKey = createHmac("sha256", this.#cacheKey).update(caller).digest();
    return own;
  }

  /** Assesses a conversation. `userTexts` is in order, oldest first. */
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
      // Only numbers are quoted, because a function could return the text itself.
      const returned = typeof score === "number" ? score : describeKind(score);
      throw new GuardError(
        "GUARD_SCANNER",
        `the scoring function returned ${returned} instead of a number of at least 0`,
      );
    }
    this.#cache?.set(key, score);
    return score;
  }
}
