import type { Conversation } from "../messages/conversation.ts";
import { AnswerCache } from "../models/call-context.ts";
import {
  type CheckResult,
  emptyResult,
  findCheck,
  isValid,
  ResultCollector,
  type ScanResult,
  type Scope,
} from "../scan/check-result.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import type { Edit } from "../scan/edits.ts";
import { modeOf } from "../scan/mode.ts";
import { isSuppressed, type NamedScanner, suppressedNames } from "../scan/named-scanners.ts";
import { replacesValues } from "../scan/outcome.ts";
import type { ScanReport } from "../scan/report.ts";
import type { RunOptions } from "../scan/scan-options.ts";
import type { ScanContext } from "../scan/scanner.ts";
import { SCAN_GROUPS, type ScanGroup, type Source } from "../scan/source.ts";
import { scanText, type TextResult } from "../scan/text-scan.ts";
import { Vault } from "../scan/vault.ts";
import { defaultVerdictCache, type VerdictCache } from "../scan/verdict-cache.ts";
import { callSignal } from "../support/lazy-abort-controller.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { lengthIn, type OffsetUnit } from "../text/offsets.ts";
import { assembledTexts } from "./assembled-texts.ts";
import type { ConversationScanners } from "./conversation-scanners.ts";
import { editedStrings, stringsOf } from "./edited-strings.ts";
import { exceptAssembled } from "./except-assembled.ts";
import { narrowFindings } from "./finding-strings.ts";
import { mapTexts } from "./map-texts.ts";
import { groupMessages, type MessageGroups } from "./message-groups.ts";
import { placeholdersFor } from "./placeholder-restorer.ts";
import type { ConversationRisk } from "./risk.ts";
import { checkRisk } from "./risk-check.ts";
import { type ScanJob, scanJobs } from "./scan-jobs.ts";

/** The options of a scan of a conversation. */
export interface ConversationScanOptions extends Omit<RunOptions, "scope" | "stop"> {
  /**
   * The number of user messages that are scanned together. 1 disables this check. If more messages are unanswered, all of those are
   * scanned together. The default is 3.
   */
  window?: number;
  /** Checks the accumulated risk too. */
  risk?: ConversationRisk | undefined;
}

/** The checks of a conversation, and the sanitized request. */
export interface ConversationResult extends ScanResult {
  /** The latest user message, sanitized. Empty without a user message. */
  sanitizedPrompt: string;
  /** The request with all texts sanitized by the scanners of their source. */
  sanitized: ReturnType<Conversation["rewrite"]>;
  engineTiming: ScanReport["engineTiming"];
}

/** Scans a conversation that has been read. */
export function scanTexts(
  lists: ConversationScanners,
  conversation: Conversation,
  options: ConversationScanOptions = {},
): Promise<ConversationResult> {
  return new ConversationScan(lists, conversation, options).run();
}

/** The options of a scan with their defaults. */
type Settings = ConversationScanOptions & {
  vault: Vault;
  rewrite: boolean;
  suppress: ReadonlySet<string>;
  signal: AbortSignal;
  verdicts: VerdictCache;
};

/** A scan of a conversation: a list of stages, each of which checks one group of texts. */
class ConversationScan {
  readonly #lists: ConversationScanners;
  readonly #conversation: Conversation;
  readonly #groups: MessageGroups;
  readonly #options: Settings;
  /** The settings of checks that rewrite nothing. They have no vault, because they run concurrently and their placeholders are unused. */
  readonly #judging: Omit<Settings, "vault">;
  readonly #unit: OffsetUnit;
  readonly #window: number;
  readonly #endCall: () => void;
  /** All groups share one time slice, so that together they block the event loop no longer than one group. */
  readonly #slice: TimeSlice;
  readonly #answers = new AnswerCache();
  readonly #jobs: Record<ScanGroup, ScanJob[]>;
  readonly #results = new Map<ScanJob, TextResult>();
  /** The texts as rewritten by their first scan. */
  readonly #rewritten = new Map<MessageText, { text: string; intended: string; edits: readonly Edit[] }>();
  #rewriting: Promise<void> | undefined;
  #latest: Promise<ScanResult> | undefined;

  constructor(lists: ConversationScanners, conversation: Conversation, options: ConversationScanOptions) {
    const { rewrite = true, vault = new Vault(), verdicts = defaultVerdictCache() } = options;
    const { signal, end } = callSignal(options.signal);
    this.#lists = lists;
    this.#conversation = conversation;
    this.#groups = groupMessages(conversation);
    this.#options = Object.assign({}, options, {
      vault,
      rewrite,
      suppress: suppressedNames(options.suppress),
      signal,
      verdicts,
    });
    const { vault: _, ...judging } = this.#options;
    this.#judging = Object.assign(judging, { rewrite: false });
    this.#unit = options.offsets ?? "utf16";
    this.#window = options.window ?? 3;
    this.#endCall = end;
    this.#slice = new TimeSlice(signal);
    this.#jobs = scanJobs(this.#groups, lists, { rewrite, replacing: this.#replacing });
  }

  async run(): Promise<ConversationResult> {
    try {
      await this.#options.verdicts.prefetch(this.#conversation.texts);
      const total = new ResultCollector();
      for (const result of await this.#runStages()) total.add(result);
      const { result } = total;
      this.#addUnscanned(result);
      const sanitized = this.#conversation.rewrite(await this.#sanitizedStrings());
      const { prompt } = this.#groups;
      const sanitizedPrompt = prompt === undefined ? "" : this.#textOf(prompt);
      return Object.assign({ sanitizedPrompt, sanitized, engineTiming: this.#answers.timings }, result);
    } finally {
      // If a stage throws, the results of the others are not needed, so they are aborted.
      this.#endCall();
    }
  }

  /** The stages in the order of their results. */
  get #stages(): readonly (() => Promise<ScanResult>)[] {
    const others = SCAN_GROUPS.filter((group) => group !== "user");
    return [
      () => this.#checkLatest(),
      () => this.#checkWindow(),
      ...others.map((group) => () => this.#checkGroup(group)),
      () => this.#checkRisk(),
    ];
  }

  /** Runs all stages concurrently, or with `failFast` one by one until a check fails. */
  async #runStages(): Promise<ScanResult[]> {
    if (!this.#options.failFast) return Promise.all(this.#stages.map((stage) => stage()));
    const results: ScanResult[] = [];
    for (const stage of this.#stages) {
      const result = await stage();
      results.push(result);
      if (!isValid(result)) break;
    }
    return results;
  }

  /** Checks the user messages that the model has not answered. */
  #checkLatest(): Promise<ScanResult> {
    this.#latest ??= (async () => {
      await Promise.all([this.#rewriteTexts(), this.#options.failFast ? undefined : this.#judgeTexts("user")]);
      if (this.#options.failFast) await this.#judgeTexts("user");
      return this.#merged(this.#resultsOf("user"));
    })();
    return this.#latest;
  }

  /** Checks the new texts of a source, or the history. */
  async #checkGroup(group: ScanGroup): Promise<ScanResult> {
    const [assembled] = await Promise.all([
      group === "tool" ? this.#checkAssembledTools() : [],
      this.#judgeTexts(group),
    ]);
    await this.#rewriting;
    return this.#merged([...this.#resultsOf(group), ...assembled]);
  }

  async #checkRisk(): Promise<ScanResult> {
    const { risk } = this.#options;
    const { prompt, userMessages, toolResults } = this.#groups;
    if (!risk || !prompt) return emptyResult();
    const texts = { userMessages, toolResults: this.#lists.off.has("tool") ? [] : toolResults };
    if (modeOf("user", [this.#options.mode, risk.mode]) === "off") return emptyResult();
    const riskScorer = this.#lists.user.find(({ scanner }) => scanner.detect)?.scanner.type;
    return checkRisk(risk, texts, this.#answers, Object.assign({}, this.#options, { riskScorer }));
  }

  // --- Single texts

  /** The scanners that replace values of users with placeholders. */
  get #replacing(): readonly NamedScanner[] {
    const { rewrite, suppress } = this.#options;
    if (!rewrite) return [];
    return this.#lists.user.filter((item) => replacesValues(item.scanner) && !isSuppressed(item, suppress));
  }

  /** Whether a scanner rewrites texts of users, and does not only monitor them. */
  #enforces({ mode }: NamedScanner["scanner"]): boolean {
    return modeOf("user", [this.#options.mode, mode]) === "enforce";
  }

  #isRewriting({ scanners }: ScanJob): boolean {
    return this.#options.rewrite && scanners.some(({ scanner }) => scanner.sanitizes || scanner.vaultScope === "call");
  }

  /** Scans the texts that may be rewritten one by one, so that values of older messages come first in the vault. */
  #rewriteTexts(): Promise<void> {
    this.#rewriting ??= (async () => {
      const order = new Map(this.#conversation.texts.map((text, index) => [text, index]));
      const jobs = Object.values(this.#jobs)
        .flat()
        .filter((job) => this.#isRewriting(job));
      jobs.sort((a, b) => (order.get(a.text) ?? 0) - (order.get(b.text) ?? 0));
      for (const job of jobs) {
        if (this.#slice.isOver) await this.#slice.next();
        const result = await this.#scanJob(job, this.#options);
        if (this.#options.failFast && result && !isValid(result)) return;
      }
    })();
    return this.#rewriting;
  }

  /** Scans the texts of a group that no scanner rewrites, several concurrently. */
  async #judgeTexts(group: ScanGroup): Promise<void> {
    await mapTexts(
      this.#jobs[group].filter((job) => !this.#isRewriting(job)),
      (job) => this.#scanJob(job, group === "user" ? this.#options : this.#judging),
      this.#slice,
    );
  }

  async #scanJob(job: ScanJob, options: RunOptions): Promise<ScanResult | undefined> {
    const { text, scanners, scope, counted } = job;
    if (scanners.length === 0) return undefined;
    const context = this.#contextOf(text.source, text);
    const failFast = (options.failFast ?? false) && !counted;
    const result = await scanText(scanners, text.text, context, Object.assign({}, options, { scope, failFast }));
    await narrowFindings(result, text, { scanners, unit: this.#unit }, (item, string) =>
      scanText([item], string.text, this.#contextOf(text.source, string), Object.assign({}, this.#judging, { scope })),
    );
    if (!this.#rewritten.has(text)) {
      const { text: sanitized, intended, edits } = result;
      this.#rewritten.set(text, { text: sanitized, intended, edits });
    }
    if (counted) filterChecks(result, counted);
    this.#results.set(job, result);
    return result;
  }

  #contextOf(source: Source, current?: MessageText): ScanContext {
    const { texts } = this.#conversation;
    return { answers: this.#answers, source, conversation: current ? { texts, current } : { texts } };
  }

  #resultsOf(group: ScanGroup): ScanResult[] {
    return this.#jobs[group].flatMap((job) => this.#results.get(job) ?? []);
  }

  /** Merges the results of thousands of texts, and yields to the event loop meanwhile. */
  async #merged(results: readonly ScanResult[]): Promise<ScanResult> {
    const [first] = results;
    if (first && results.length === 1) return first;
    const collector = new ResultCollector();
    for (const result of results) {
      if (this.#slice.isOver) await this.#slice.next();
      collector.add(result);
    }
    return collector.result;
  }

  /**
   * Returns a text as rewritten.
   *
   * @param isIntended whether to return it as it would be rewritten if no scanner only monitored.
   */
  #textOf(text: MessageText, isIntended = false): string {
    const rewritten = this.#rewritten.get(text);
    return (isIntended ? rewritten?.intended : rewritten?.text) ?? text.text;
  }

  // --- Several texts together

  /** Checks the last few user messages together, because an attacker may have split an instruction over them. */
  async #checkWindow(): Promise<ScanResult> {
    const { prompt, userMessages, unansweredCount } = this.#groups;
    const { window } = this.#lists;
    if (prompt === undefined || this.#window === 1 || window.length === 0) return emptyResult();
    const messages = userMessages.slice(-Math.max(this.#window, unansweredCount));
    const texts = messages.map(({ text }) => text);
    const scanJoined = (scanners: readonly NamedScanner[], strings: readonly string[]): Promise<ScanResult> => {
      const joined = strings.map((text, index) => ({ text, original: texts[index] ?? text }));
      const options = Object.assign({}, this.#judging, { scope: "window", joined } as const);
      return scanText(scanners, strings.join("\n"), this.#contextOf(prompt.source), options);
    };
    const joined = texts.join("\n");
    const results = await Promise.all([
      joined === prompt.text ? this.#windowOfPrompt(prompt, scanJoined) : scanJoined(window, texts),
      this.#checkAssembled(window, texts, prompt.source, "window"),
    ]);
    const result = await this.#merged(results.flat());
    await this.#checkRewritten(result, window, async (failing, isIntended) => {
      await this.#checkLatest();
      const rewritten = messages.map((text) => this.#textOf(text, isIntended));
      const assembled = await this.#checkAssembled(failing, rewritten, prompt.source, "window");
      return [await scanJoined(failing, rewritten), ...assembled];
    });
    return result;
  }

  /**
   * Checks a window that consists of the prompt alone. It copies the results of the prompt, and runs only the scanners that did not check
   * the prompt.
   */
  async #windowOfPrompt(
    prompt: MessageText,
    scan: (scanners: readonly NamedScanner[], texts: readonly string[]) => Promise<ScanResult>,
  ): Promise<ScanResult> {
    await this.#checkLatest();
    const known = this.#jobs.user.find(({ text }) => text === prompt);
    const ofPrompt = (known && this.#results.get(known)) ?? emptyResult();
    const copyOf = ({ name, scanner }: NamedScanner): CheckResult | undefined => {
      const isSame = this.#lists.user.some((item) => item.name === name && item.scanner === scanner);
      return isSame ? findCheck(ofPrompt, { scanner: name, scope: "latest" }) : undefined;
    };
    const others = this.#lists.window.filter((item) => !copyOf(item));
    const result = others.length > 0 ? await scan(others, [prompt.text]) : emptyResult();
    for (const item of this.#lists.window) {
      const check = copyOf(item);
      if (!check) continue;
      if (isSuppressed(item, this.#options.suppress, "window")) {
        result.suppressed.push({ scanner: item.name, scope: "window" });
      } else {
        const { edits: _, ...copied } = check;
        result.checks.push(Object.assign(copied, { scope: "window" as const, timing: 0 }));
      }
    }
    return result;
  }

  /** Checks strings that the model would assemble from several tool results, none of which contains the attack. */
  async #checkAssembledTools(): Promise<ScanResult[]> {
    const detecting = this.#lists.tool.filter(({ scanner }) => scanner.conversation?.window);
    const messages = this.#groups.new.tool;
    const texts = messages.map(({ text }) => text);
    const results = await this.#checkAssembled(detecting, texts, "tool", "tool");
    for (const result of results) {
      await this.#checkRewritten(result, detecting, async (failing, isIntended) => {
        await this.#rewriting;
        const rewritten = messages.map((text) => this.#textOf(text, isIntended));
        return this.#checkAssembled(failing, rewritten, "tool", "tool");
      });
    }
    return results;
  }

  async #checkAssembled(
    scanners: readonly NamedScanner[],
    texts: readonly string[],
    source: Source,
    scope: Scope,
  ): Promise<ScanResult[]> {
    if (scanners.length === 0 || texts.length === 0) return [];
    if (this.#slice.isOver) await this.#slice.next();
    const options = Object.assign({}, this.#judging, { scope });
    const scanAssembled = (list: readonly NamedScanner[], of: readonly string[]) =>
      mapTexts(assembledTexts(of), (text) => scanText(list, text, this.#contextOf(source), options));
    const results = await scanAssembled(scanners, texts);
    const { exceptions, credential } = this.#options;
    if (exceptions) {
      await exceptAssembled(results, { scanners, texts, source, exceptions, credential, scanAssembled });
    }
    return results.map(toAssembledResult);
  }

  /**
   * Joined texts are not rewritten, but rewriting the single texts may have removed the findings. Scans the rewritten texts with the failing
   * scanners, and records those that pass now.
   */
  async #checkRewritten(
    { checks }: ScanResult,
    scanners: readonly NamedScanner[],
    scanAgain: (failing: readonly NamedScanner[], isIntended: boolean) => Promise<ScanResult[]>,
  ): Promise<void> {
    // A scan that stops early rewrites nothing more.
    if (!this.#options.rewrite || this.#options.failFast) return;
    const flagged = checks.filter(({ outcome }) => outcome === "flagged");
    for (const monitors of [false, true]) {
      const own = flagged.filter(({ mode }) => (mode === "monitor") === monitors);
      const failing = scanners.filter(
        ({ name, scanner }) => scanner.sanitizes && own.some((check) => check.scanner === name),
      );
      if (failing.length === 0) continue;
      const again = await this.#merged(await scanAgain(failing, monitors));
      for (const check of own) {
        const isStillFailing = again.checks.some(({ scanner, isValid }) => scanner === check.scanner && !isValid);
        if (failing.some(({ name }) => name === check.scanner) && !isStillFailing) check.outcome = "rewritten";
      }
    }
  }

  // --- The result

  /** Adds texts without a scanner, and texts that the model reads from elsewhere, to the coverage. */
  #addUnscanned({ coverage }: ScanResult): void {
    coverage.stateElsewhere = [...this.#conversation.stateElsewhere];
    const groups: [ScanGroup, readonly MessageText[]][] = [
      ...(Object.entries(this.#groups.new) as [Source, MessageText[]][]),
      ["history", this.#groups.history],
      ["history", this.#lists.off.has("tool_call") ? [] : this.#groups.pastToolCalls],
    ];
    for (const [group, texts] of groups) {
      if (this.#lists.off.has(group)) continue;
      coverage.partsSkipped += texts.reduce((sum, { skipped }) => sum + skipped, 0);
      const own = new Set(texts);
      for (const { text, scanners, counted } of this.#jobs[group]) {
        const isUnscanned = own.has(text) && (counted?.size ?? scanners.length) === 0;
        if (!isUnscanned || text.text === "") continue;
        const length = lengthIn(this.#unit, text.text);
        coverage.chars += length;
        coverage.unscannedSources[text.source] = (coverage.unscannedSources[text.source] ?? 0) + length;
      }
    }
  }

  /** Returns the new strings of all rewritten texts. */
  async #sanitizedStrings(): Promise<Map<MessageText, readonly string[]>> {
    const strings = new Map<MessageText, readonly string[]>();
    for (const [text, { edits }] of this.#rewritten) {
      if (edits.length > 0) strings.set(text, editedStrings(text, edits));
    }
    if (this.#replacing.some(({ scanner }) => scanner.vaultScope === "call" && this.#enforces(scanner))) {
      await this.#replaceKnownValues(strings);
    }
    return strings;
  }

  /** Replaces values of the vault in answers and tool results, where they were restored before. */
  async #replaceKnownValues(strings: Map<MessageText, readonly string[]>): Promise<void> {
    const { vault, signal } = this.#options;
    const entries = vault.entries();
    if (entries.length === 0) return;
    const texts = this.#conversation.texts.filter(
      ({ source }) => mayHoldKnownValues(source) && !this.#lists.off.has(source),
    );
    const current = texts.map((text) => strings.get(text) ?? stringsOf(text));
    const replaced = await placeholdersFor(entries, { signal })(current.flat());
    let start = 0;
    for (const [index, text] of texts.entries()) {
      const before = current[index] ?? [];
      const after = replaced.slice(start, start + before.length);
      start += before.length;
      if (after.some((string, at) => string !== before[at])) strings.set(text, after);
    }
  }
}

/**
 * Whether a text may contain values of the vault: an answer or a tool result, in which they were restored, or the text of a developer, who
 * may have put the data of a user into it.
 */
function mayHoldKnownValues(source: Source): boolean {
  return source !== "user" && source !== "tool_definition";
}

/** Keeps the checks whose results count, and those that threw. The other scanners only rewrite. */
function filterChecks(result: ScanResult, counted: ReadonlySet<string>): void {
  result.checks = result.checks.filter(({ scanner, outcome }) => counted.has(scanner) || outcome === "error");
  result.suppressed = result.suppressed.filter(({ scanner }) => counted.has(scanner));
}

/**
 * Converts the result of an assembled text. Its findings have the view `assembled`, with offsets in the assembled text. The coverage does
 * not count its length, because the conversation does not contain it.
 */
function toAssembledResult({ checks, suppressed, coverage }: ScanResult): ScanResult {
  const viewOf = (view: string | undefined) => (view ? `assembled>${view}` : "assembled");
  return {
    checks: checks.map((check) =>
      Object.assign({}, check, {
        findings: check.findings.map((finding) => Object.assign({}, finding, { view: viewOf(finding.view) })),
      }),
    ),
    suppressed,
    coverage: Object.assign({}, coverage, { chars: 0, scannedChars: 0 }),
  };
}
