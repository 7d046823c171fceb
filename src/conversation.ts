import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { GuardError, GuardValidationError, ScannerError } from "./errors.ts";
import { type Conversation, type Message, readMessages } from "./messages.ts";
import { AnswerCache } from "./models/answer-cache.ts";
import { errorKind, summaryOf } from "./observer.ts";
import { CONVERSATION_RISK, sourceSuffix, WINDOW_SUFFIX } from "./result-names.ts";
import {
  addVerdict,
  emptyReport,
  isSuppressed,
  type NamedScanner,
  nameScanners,
  ownSignal,
  runScanners,
  type ScanOptions,
  type ScanReport,
  suppressedNames,
} from "./scan.ts";
import type { Finding, Scanner, Verdict } from "./scanner.ts";
import { FAILED, round } from "./scanners/score.ts";
import { lengthIn, type OffsetUnit } from "./text/offsets.ts";
import { parseOptions } from "./validation/options.ts";
import { checkConversationOptions } from "./validation/scan-options.ts";

export type { ContentPart, Message } from "./messages.ts";
export { CONVERSATION_RISK } from "./result-names.ts";

/** The options of {@link ConversationRisk}. */
export const conversationRiskOptions = z.strictObject({
  threshold: z
    .number()
    .positive()
    .default(1.2)
    .describe("The conversation is flagged when the decayed sum reaches this."),
  decay: z.number().min(0).max(1).default(0.7).describe("Weight of a message's score per user message of age."),
  minScore: z.number().min(0).default(0.2).describe("Scores below this do not add up."),
  cacheSize: z.number().int().min(0).default(10_000).describe("Scores of messages that are kept; no text is."),
});

/**
 * Scores a text; 0 means that it has no risk. `answers` holds what models have already answered in this call, so that a scorer that
 * asks a model does not ask it twice.
 */
export type ScoringFunction = (text: string, signal?: AbortSignal, answers?: AnswerCache) => number | Promise<number>;

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
}

/**
 * Adds up risk over the user messages of a conversation, to catch attacks that escalate slowly.
 *
 * Let `s` be the score of a user message and `a` its age in user messages (0 for the latest). The sum of `s * decay ** a` over the
 * messages with `s >= minScore` is compared with `threshold`. Scores of messages are cached, so that a call pays only for its new
 * messages. Make one object and use it for all conversations.
 */
export class ConversationRisk {
  readonly threshold: number;
  readonly decay: number;
  readonly minScore: number;
  readonly #score: ScoringFunction;
  /**
   * Texts are stored as hashes that are keyed with a secret of this object, so that a key reveals nothing about its text and two
   * objects with different scorers never share an entry.
   */
  readonly #cache: LRUCache<string, number> | undefined;
  readonly #cacheKey = randomBytes(32);

  /**
   * @param score the scoring function.
   * @throws GuardValidationError for an option out of range.
   */
  constructor(score: ScoringFunction, options: z.input<typeof conversationRiskOptions> = {}) {
    if (typeof score !== "function") {
      throw new GuardValidationError([{ path: "score", message: "expected a function from a text to a number" }]);
    }
    const { threshold, decay, minScore, cacheSize } = parseOptions(conversationRiskOptions, options);
    this.threshold = threshold;
    this.decay = decay;
    this.minScore = minScore;
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
      async (text, signal, answers) => (await scanner.detect(text, signal, answers)).score,
      options,
    );
  }

  /** Assesses the user messages of a conversation. `userTexts` begins with the oldest message. */
  async assess(userTexts: readonly string[], signal?: AbortSignal, answers?: AnswerCache): Promise<RiskAssessment> {
    const scores = await mapTexts(userTexts, (text) => this.#scoreOf(text, signal, answers));
    let total = 0;
    for (const [index, score] of scores.entries()) {
      if (score >= this.minScore) total += score * this.decay ** (scores.length - 1 - index);
    }
    const distance = (total - this.threshold) / this.threshold;
    const isValid = total < this.threshold;
    const score = isValid
      ? Math.min(-0.01, round(Math.max(-1, distance), 2))
      : round(Math.min(1, Math.max(0.01, distance)), 2);
    return { isValid, score, total, scores };
  }

  async #scoreOf(text: string, signal?: AbortSignal, answers?: AnswerCache): Promise<number> {
    if (text.trim() === "") return 0;
    const key = createHmac("sha256", this.#cacheKey).update(text).digest("base64");
    const cached = this.#cache?.get(key);
    if (cached !== undefined) return cached;
    const score = await this.#score(text, signal, answers);
    if (!Number.isFinite(score) || score < 0) {
      throw new GuardError("GUARD_SCANNER", `the scoring function returned ${score} where a number from 0 on was due`);
    }
    this.#cache?.set(key, score);
    return score;
  }
}

/** The options that say how a conversation is scanned. */
export interface ConversationOptions extends ScanOptions {
  /** How many user messages are scanned together; 1 turns that off. Default 3. */
  window?: number;
  /** Checks the accumulated risk too. */
  risk?: ConversationRisk;
  /**
   * The scanners that check the window. By default these are the scanners of the list that ask for it in
   * {@link Scanner.conversation}.
   */
  windowScanners?: readonly Scanner[];
  /**
   * The scanners that check tool results. By default these are the scanners of the list that ask for them in
   * {@link Scanner.conversation}; when there are no such scanners, the coverage counts the tool results as not scanned. `[]` turns the
   * check off: the caller does not want tool results to be checked, so the coverage does not count them, just as it does not count
   * messages of the assistant.
   */
  toolScanners?: readonly Scanner[];
  /** With `false`, no scanner rewrites the text and all scanners see the original message. The default is true. */
  rewrite?: boolean;
}

export interface ConversationReport extends ScanReport {
  /** The latest user message after the sanitizing scanners changed it. It is empty when there is no user message. */
  sanitizedPrompt: string;
}

/**
 * Scans a conversation: its latest user message (`X` in results), the last few user messages together (`X[window]`), the tool
 * results that the model is about to read (`X[tool]`) and the accumulated risk (`ConversationRisk`).
 *
 * Only the latest user message is sanitized, and only the scanners that check it get the `vault`. Pass the vault that the earlier
 * turns of the conversation filled, so that the values that they replaced keep their placeholders.
 *
 * @param messages the messages in the format of OpenAI or Anthropic, with the oldest first.
 * @throws GuardValidationError when scanners, messages or options are invalid, and ScannerError when a scanner throws.
 */
export async function scanConversation(
  scanners: readonly Scanner[],
  messages: readonly Message[],
  options: ConversationOptions = {},
): Promise<ConversationReport> {
  checkConversationOptions(options);
  return scanConversationTexts(scanners, readMessages(messages), options);
}

/** Does what {@link scanConversation} does, for messages that were already read and options that were already checked. */
export async function scanConversationTexts(
  scanners: readonly Scanner[],
  { userTexts, toolTexts, partsSkipped, toolPartsSkipped }: Conversation,
  { window = 3, risk, windowScanners, toolScanners, signal: outer, ...rest }: ConversationOptions = {},
): Promise<ConversationReport> {
  const named = nameScanners(scanners);
  const ofWindow = windowScanners
    ? nameScanners(windowScanners, "windowScanners")
    : named.filter(({ scanner }) => scanner.conversation?.window);
  const ofTools = toolScanners
    ? nameScanners(toolScanners, "toolScanners")
    : named.filter(({ scanner }) => scanner.conversation?.sources?.includes("tool"));
  const suppress = suppressedNames(rest.suppress);
  const { signal, stop } = ownSignal(outer);
  const options = { ...rest, suppress, signal };
  const prompt = userTexts.at(-1);
  // Checks that rewrite nothing get no vault: several of them run at the same time, and no caller would ever see their
  // placeholders.
  const { vault: _, ...judging } = options;
  const detect = { ...judging, rewrite: false };
  const context = { answers: new AnswerCache() };

  const promptReport = async () =>
    prompt === undefined ? { ...emptyReport(), text: "" } : runScanners(named, prompt, context, options);

  const windowReport = async (ofPrompt: () => Promise<ScanReport>): Promise<ScanReport> => {
    if (prompt === undefined || window === 1 || ofWindow.length === 0) return emptyReport();
    const text = userTexts.slice(-window).join("\n");
    if (text !== prompt) return runScanners(ofWindow, text, context, { ...detect, suffix: WINDOW_SUFFIX });
    // The window is the prompt itself, and the same text has the same results. Results of the prompt are therefore copied, and only
    // scanners that did not check the prompt run.
    const source = await ofPrompt();
    const ran = ({ name, scanner }: NamedScanner) =>
      Object.hasOwn(source.resultsScore, name) && named.some((item) => item.name === name && item.scanner === scanner);
    const rest = ofWindow.filter((item) => !ran(item));
    const report =
      rest.length > 0 ? await runScanners(rest, text, context, { ...detect, suffix: WINDOW_SUFFIX }) : emptyReport();
    for (const item of ofWindow.filter(ran)) {
      const name = item.name + WINDOW_SUFFIX;
      if (isSuppressed(item, suppress, WINDOW_SUFFIX)) report.coverage.suppressed.push(name);
      else copyResult(report, name, source, item.name);
    }
    return report;
  };

  const toolReport = async (): Promise<ScanReport> => {
    if (ofTools.length === 0) {
      const report = emptyReport();
      // No scanner was available for the tool results, so they count as not scanned. With `toolScanners: []` the caller asked for
      // that, so they do not count.
      if (!toolScanners)
        for (const text of toolTexts) report.coverage.chars += lengthIn(options.offsets ?? "utf16", text);
      return report;
    }
    const reports = await mapTexts(toolTexts, (text) =>
      runScanners(ofTools, text, context, { ...detect, suffix: sourceSuffix("tool") }),
    );
    return reports.reduce<ScanReport>(worse, emptyReport());
  };

  const riskReport = async (): Promise<ScanReport> => {
    const report = emptyReport();
    if (!risk || prompt === undefined) return report;
    if (suppress.has(CONVERSATION_RISK)) {
      report.coverage.suppressed.push(CONVERSATION_RISK);
      return report;
    }
    const start = performance.now();
    const chars = userTexts.reduce((sum, text) => sum + text.length, 0);
    const observed = options.observer?.scannerStarted({ name: CONVERSATION_RISK, type: CONVERSATION_RISK, chars });
    const answers = observed ? context.answers.observedBy(observed) : context.answers;
    const coverage = { chars: 0, scannedChars: 0, truncated: false, windows: userTexts.length };
    let verdict: Verdict;
    try {
      const { isValid, score, scores } = await risk.assess(userTexts, signal, answers);
      const findings = isValid ? [] : contributions(userTexts, scores, risk.minScore, options.offsets);
      verdict = { isValid, score, findings, coverage };
    } catch (error) {
      const reason = signal.aborted ? signal.reason : error;
      observed?.ended({ milliseconds: performance.now() - start, error: errorKind(reason) });
      signal.throwIfAborted();
      if (options.onScannerError !== "block") throw new ScannerError(CONVERSATION_RISK, error);
      report.coverage.failed.push(CONVERSATION_RISK);
      const failing = { isValid: false, score: FAILED, findings: [], coverage };
      addVerdict(report, CONVERSATION_RISK, failing, performance.now() - start);
      return report;
    }
    const milliseconds = performance.now() - start;
    observed?.ended({ milliseconds, verdict: summaryOf(verdict) });
    addVerdict(report, CONVERSATION_RISK, verdict, milliseconds);
    return report;
  };

  const total = emptyReport();
  total.coverage.partsSkipped = toolScanners?.length === 0 ? partsSkipped : partsSkipped + toolPartsSkipped;
  let sanitizedPrompt = "";
  try {
    if (options.failFast) {
      const first = await promptReport();
      sanitizedPrompt = first.text;
      merge(total, first);
      for (const next of [() => windowReport(async () => first), toolReport, riskReport]) {
        if (!total.isValid) break;
        merge(total, await next());
      }
    } else {
      const first = promptReport();
      const reports = await Promise.all([first, windowReport(() => first), toolReport(), riskReport()]);
      sanitizedPrompt = reports[0].text;
      for (const report of reports) merge(total, report);
    }
  } finally {
    // When one part throws, nobody needs the results of the others any more, so they are stopped.
    stop();
  }
  return { sanitizedPrompt, ...total, engineTiming: context.answers.timings };
}

/**
 * How many texts of one conversation are scanned at the same time. The limit keeps one long conversation from filling the queue of
 * a model.
 */
const PARALLEL_TEXTS = 8;

/** Calls `read` with every text, a few at a time. After the first failure no further text is read. */
async function mapTexts<T>(texts: readonly string[], read: (text: string) => Promise<T>): Promise<T[]> {
  const results = new Array<T>(texts.length);
  let next = 0;
  const work = async () => {
    while (next < texts.length) {
      const index = next++;
      try {
        results[index] = await read(texts[index] as string);
      } catch (error) {
        next = texts.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_TEXTS, texts.length) }, work));
  return results;
}

/**
 * Returns a finding for each message that added to the risk. The offsets are offsets in the message that the label names, such as
 * `user message 3`, where only user messages are counted.
 */
function contributions(
  userTexts: readonly string[],
  scores: readonly number[],
  minScore: number,
  unit: OffsetUnit = "utf16",
): Finding[] {
  return userTexts.flatMap((text, index) => {
    const score = scores[index] ?? 0;
    return score >= minScore
      ? [
          {
            start: 0,
            end: lengthIn(unit, text),
            type: "message",
            score: Math.min(1, score),
            label: `user message ${index + 1}`,
          },
        ]
      : [];
  });
}

function copyResult(to: ScanReport, name: string, from: ScanReport, source: string): void {
  const isValid = from.resultsValid[source] ?? false;
  to.isValid &&= isValid;
  to.resultsValid[name] = isValid;
  to.resultsScore[name] = from.resultsScore[source] ?? FAILED;
  const probability = from.probabilities[source];
  if (probability === undefined) delete to.probabilities[name];
  else to.probabilities[name] = probability;
  to.findings[name] = from.findings[source] ?? [];
  to.timing[name] = 0;
  if (from.coverage.failed.includes(source)) to.coverage.failed.push(name);
}

/** Adds the results from another part of the conversation to a report. */
function merge(to: ScanReport, from: ScanReport): void {
  to.isValid &&= from.isValid;
  Object.assign(to.resultsValid, from.resultsValid);
  Object.assign(to.resultsScore, from.resultsScore);
  Object.assign(to.probabilities, from.probabilities);
  Object.assign(to.findings, from.findings);
  Object.assign(to.timing, from.timing);
  addCoverage(to, from);
}

/** Merges the results of two texts: for each scanner, the worse of its two results stays. */
function worse(to: ScanReport, from: ScanReport): ScanReport {
  to.isValid &&= from.isValid;
  for (const [name, score] of Object.entries(from.resultsScore)) {
    const known = to.resultsScore[name];
    if (known === undefined || score > known) copyResult(to, name, from, name);
    to.timing[name] = Math.max(to.timing[name] ?? 0, from.timing[name] ?? 0);
  }
  addCoverage(to, from);
  return to;
}

function addCoverage({ coverage: to }: ScanReport, { coverage: from }: ScanReport): void {
  to.chars += from.chars;
  to.scannedChars += from.scannedChars;
  to.truncated ||= from.truncated;
  to.windows = Math.max(to.windows, from.windows);
  to.partsSkipped += from.partsSkipped;
  to.suppressed = [...new Set([...to.suppressed, ...from.suppressed])];
  to.failed = [...new Set([...to.failed, ...from.failed])];
  for (const [name, languages] of Object.entries(from.untrainedLanguage)) {
    to.untrainedLanguage[name] = [...new Set([...(to.untrainedLanguage[name] ?? []), ...languages])].sort();
  }
}
