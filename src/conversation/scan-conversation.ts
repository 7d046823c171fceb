import type { Conversation } from "../messages/conversation.ts";
import { readConversationInTurns } from "../messages/read.ts";
import { AnswerCache } from "../models/call-context.ts";
import type { ChatRequest, Message } from "../scan/chat-request.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { addUnread, asAssembled, copyResult, merge, onlyNames, worst, worstInTurns } from "../scan/merge.ts";
import { replacesValues } from "../scan/outcome.ts";
import { divided } from "../scan/pieces.ts";
import { HISTORY_SUFFIX, sourceSuffix, WINDOW_SUFFIX } from "../scan/result-names.ts";
import {
  addUnchanged,
  emptyReport,
  isSuppressed,
  type NamedScanner,
  nameScanners,
  ownSignal,
  type RunOptions,
  runScanners,
  type ScanOptions,
  type ScanReport,
  suppressedNames,
} from "../scan/scan.ts";
import { checkConversationOptions } from "../scan/scan-options.ts";
import type { Scanner } from "../scan/scanner.ts";
import { SCANNED, type Scanned, SOURCES, type Source } from "../scan/source.ts";
import { Vault } from "../scan/vault.ts";
import { defaultVerdictCache, type VerdictCache } from "../scan/verdict-cache.ts";
import { Turns } from "../support/turns.ts";
import { riskReport } from "./accumulated.ts";
import { assembled } from "./assembled.ts";
import { placeholdersFor } from "./known-values.ts";
import { type ConversationLists, conversationLists, givenLists } from "./lists.ts";
import { mapTexts } from "./map-texts.ts";
import { narrowed } from "./narrowed.ts";
import { readingOf } from "./reading.ts";
import type { ConversationRisk } from "./risk.ts";

export type { ChatRequest, ContentPart, Message } from "../scan/chat-request.ts";
export { CONVERSATION_RISK } from "../scan/result-names.ts";
export type { Scanned, Source } from "../scan/source.ts";
export { VerdictCache } from "../scan/verdict-cache.ts";
export {
  ConversationRisk,
  conversationRiskOptions,
  type DetectingScanner,
  type RiskAssessment,
  type ScoringFunction,
} from "./risk.ts";

/** How the texts of a conversation are scanned. */
interface TextsOptions extends Omit<ScanOptions, "source" | "conversation"> {
  /**
   * How many user messages are scanned together; 1 turns that off. When the model has not answered more than this, all of those are
   * scanned together. Default 3.
   */
  window?: number;
  /** Checks the accumulated risk too. */
  risk?: ConversationRisk;
  /** With `false`, no scanner rewrites the text and all scanners see the original messages. The default is true. */
  rewrite?: boolean;
  /** Keeps verdicts of earlier calls. By default, all calls of the process share one such cache. */
  verdicts?: VerdictCache;
}

/** The options that say how a conversation is scanned. */
export interface ConversationOptions extends TextsOptions, Pick<ChatRequest, "tools" | "system"> {
  /**
   * The scanners that check texts of a source, and with `history` those that check again what the model has answered already. By
   * default these are the scanners of the list that ask for it in {@link Scanner.conversation}. `[]` turns a check off: the caller
   * does not want it, so the coverage does not count these texts as left out.
   */
  scan?: Partial<Record<Scanned, readonly Scanner[]>>;
  /** The same as `scan.tool`. */
  toolScanners?: readonly Scanner[];
  /**
   * The scanners that check the window. By default these are the scanners of the list that ask for it in
   * {@link Scanner.conversation}.
   */
  windowScanners?: readonly Scanner[];
}

export interface ConversationReport extends ScanReport {
  /** The latest user message after the sanitizing scanners changed it. It is empty when there is no user message. */
  sanitizedPrompt: string;
  /** All messages as they may be sent on: with every text as the sanitizing scanners of its source left it. */
  sanitizedMessages: readonly Message[];
  /** The definitions of tools as they may be sent on. It is absent when none were given. */
  sanitizedTools?: NonNullable<ChatRequest["tools"]>;
  /** The system prompt beside the messages as it may be sent on. It is absent when none was given. */
  sanitizedSystem?: NonNullable<ChatRequest["system"]>;
}

/**
 * Scans everything that the model is about to read: the user messages that it has not answered yet (`X` in results), the last few user
 * messages together (`X[window]`), texts of other sources, such as tool results (`X[tool]`), what it has answered already and reads
 * again (`X[history]`), and the accumulated risk (`ConversationRisk`).
 *
 * Texts of a source are scanned one by one; the worst score is reported, and all findings, which say in which message they are. What
 * scanners said of a text in earlier calls is kept, so that a call costs only what its new messages cost.
 *
 * All texts of one call share the `vault`, with the oldest first, so that a value has the same placeholder everywhere. Pass the vault
 * that the earlier turns filled, so that the values that they replaced keep their placeholders.
 *
 * @param messages the messages in the format of OpenAI, Anthropic or MCP, with the oldest first.
 * @throws GuardValidationError when scanners, messages or options are invalid, and ScannerError when a scanner throws.
 */
export async function scanConversation(
  scanners: readonly Scanner[],
  messages: readonly Message[],
  options: ConversationOptions = {},
): Promise<ConversationReport> {
  checkConversationOptions(options);
  const { tools, system, scan = {}, toolScanners, windowScanners, ...rest } = options;
  const named = nameScanners(scanners);
  const given = givenLists([
    ...SCANNED.map((what) => [what, `scan.${what}`, scan[what]] as const),
    ["window", "windowScanners", windowScanners],
    ...(toolScanners === undefined ? [] : ([["tool", "toolScanners", toolScanners]] as const)),
  ]);
  const lists = conversationLists(named, given);
  const conversation = await readConversationInTurns({ messages, tools, system }, rest.signal);
  return scanConversationTexts(lists, conversation, rest);
}

/** One text, and the scanners that look at it. */
interface Job {
  text: MessageText;
  items: readonly NamedScanner[];
  suffix: string;
  /** The names whose results count. The others only rewrite the text. By default all count. */
  counted?: ReadonlySet<string>;
}

/** Does what {@link scanConversation} does, for messages that were already read and options that were already checked. */
export async function scanConversationTexts(
  lists: ConversationLists,
  conversation: Conversation,
  {
    window = 3,
    risk,
    signal: outer,
    verdicts = defaultVerdictCache(),
    ...rest
  }: TextsOptions & Pick<RunOptions, "onWork"> = {},
): Promise<ConversationReport> {
  const { rewrite = true } = rest;
  const suppress = suppressedNames(rest.suppress);
  const { signal, stop } = ownSignal(outer);
  // All lists of texts have their turns together, so that they are worked on no longer at a time than one list would be.
  const turns = new Turns(signal);
  const answers = new AnswerCache();
  // Without a vault of the caller the texts still share one, so that a value has the same placeholder in all of them.
  const given = { vault: rest.vault ?? new Vault(), rewrite, suppress, signal, verdicts };
  const options = Object.assign({}, rest, given);
  // Checks that rewrite nothing get no vault: several of them run at the same time, and no caller would ever see their
  // placeholders.
  const { vault: _, ...judging } = { ...options, rewrite: false };
  const reading = readingOf(conversation);
  const { prompt, messages, unanswered } = reading;
  const toRisk = { messages, toolResults: lists.off.has("tool") ? [] : reading.toolResults };
  const unit = options.offsets ?? "utf16";

  const replacing = rewrite
    ? lists.user.filter((item) => replacesValues(item.scanner) && !isSuppressed(item, suppress))
    : [];
  const jobs = Object.fromEntries(
    SOURCES.map((source) => [source, newJobs(source, reading.new[source], lists, replacing)]),
  ) as Record<Scanned, Job[]>;
  jobs.history = [
    ...historyJobs(reading.history, lists, rewrite),
    ...(rewrite ? pastCallJobs(reading.pastCalls, itemsOf("tool_call", lists, replacing)) : []),
  ];
  const reports = new Map<Job, ScanReport & { text: string }>();
  /** What the first scan of a text made of it. */
  const sanitized = new Map<MessageText, string>();
  const scanText = async (job: Job, { failFast = false, ...how }: RunOptions): Promise<void> => {
    const { text, items, suffix, counted } = job;
    if (items.length === 0) return;
    const context = { answers, source: text.source, conversation: { texts: conversation.texts, current: text } };
    const scanned = await runScanners(
      items,
      text.text,
      context,
      Object.assign(how, { suffix, failFast: failFast && !counted }),
    );
    const report = await narrowed(scanned, text, { items, suffix, unit }, (item, string) => {
      const { source, conversation } = context;
      const ofString = { answers, source, conversation: { ...conversation, current: string } };
      return runScanners([item], string.text, ofString, { ...judging, suffix });
    });
    if (!sanitized.has(text)) sanitized.set(text, report.text);
    reports.set(job, counted ? { ...onlyNames(counted, report), text: report.text } : report);
  };
  const isRewriting = ({ items }: Job) =>
    rewrite && items.some(({ scanner }) => scanner.sanitizes || scanner.vaultScope === "call");
  /** Texts that are rewritten, one after the other: so the values of older messages come first in the vault. */
  const rewriteTexts = async () => {
    const order = new Map(conversation.texts.map((text, index) => [text, index]));
    const rewritten = Object.values(jobs).flat().filter(isRewriting);
    rewritten.sort((a, b) => (order.get(a.text) ?? 0) - (order.get(b.text) ?? 0));
    for (const job of rewritten) {
      if (turns.isOver) await turns.next();
      await scanText(job, options);
      if (options.failFast && !(reports.get(job)?.isValid ?? true)) return;
    }
  };
  const judgeTexts = (what: Scanned) =>
    Promise.all([
      mapTexts(
        jobs[what].filter((job) => !isRewriting(job)),
        (job) => scanText(job, what === "user" ? options : judging),
        turns,
      ),
      what === "tool" ? judgeToolParts() : undefined,
    ]);

  /** Judges what the model would put together from several texts: an attack that stands in none of them. */
  const judgeAssembled = async (
    items: readonly NamedScanner[],
    texts: readonly string[],
    source: Source,
    suffix: string,
  ) => {
    if (items.length === 0 || texts.length === 0) return [];
    const context = { answers, source, conversation: { texts: conversation.texts } };
    if (turns.isOver) await turns.next();
    const reports = await mapTexts(assembled(texts), (text) =>
      runScanners(items, text, context, { ...judging, suffix }),
    );
    return reports.map(asAssembled);
  };
  const windowReport = async (ofUser: () => Promise<unknown>): Promise<ScanReport> => {
    if (prompt === undefined || window === 1 || lists.window.length === 0) return emptyReport();
    const together = messages.slice(-Math.max(window, unanswered));
    const texts = together.map(({ text }) => text);
    const [joined, fromParts] = await Promise.all([
      joinedReport(prompt, texts.join("\n"), ofUser),
      judgeAssembled(lists.window, texts, prompt.source, WINDOW_SUFFIX),
    ]);
    const report = worst([joined, ...fromParts]);
    await noteUnchanged(report, lists.window, WINDOW_SUFFIX, async (items) => {
      await ofUser();
      const left = together.map((text) => sanitized.get(text) ?? text.text);
      const ofParts = await judgeAssembled(items, left, prompt.source, WINDOW_SUFFIX);
      return [await runScanners(items, left.join("\n"), windowContext(prompt), judgingWindow), ...ofParts];
    });
    return report;
  };
  const windowContext = ({ source }: MessageText) => ({
    answers,
    source,
    conversation: { texts: conversation.texts },
  });
  const judgingWindow = Object.assign({}, judging, { suffix: WINDOW_SUFFIX });
  /**
   * Texts together are not rewritten, but what was found there may be gone when each of them was. Notes the scanners for which it is not.
   *
   * @param again scans with some of the scanners what is left of the texts.
   */
  const noteUnchanged = async (
    report: ScanReport,
    list: readonly NamedScanner[],
    suffix: string,
    again: (items: readonly NamedScanner[]) => Promise<ScanReport[]>,
  ): Promise<void> => {
    const failing = list.filter(({ name, scanner }) => scanner.sanitizes && report.unchanged?.includes(name + suffix));
    // A scan that stops early rewrites nothing more.
    if (!rewrite || options.failFast || failing.length === 0) return;
    const { resultsValid } = worst(await again(failing));
    report.unchanged = failing.map(({ name }) => name + suffix).filter((name) => resultsValid[name] === false);
  };
  const joinedReport = async (
    prompt: MessageText,
    text: string,
    ofUser: () => Promise<unknown>,
  ): Promise<ScanReport> => {
    const [context, how] = [windowContext(prompt), judgingWindow];
    if (text !== prompt.text) return runScanners(lists.window, text, context, how);
    // The window is the prompt itself, and the same text has the same results. Results of the prompt are therefore copied, and only
    // scanners that did not check the prompt run.
    await ofUser();
    const source = [...reports].find(([job]) => job.text === prompt)?.[1] ?? emptyReport();
    const ran = ({ name, scanner }: NamedScanner) =>
      Object.hasOwn(source.resultsScore, name) &&
      lists.user.some((item) => item.name === name && item.scanner === scanner);
    const others = lists.window.filter((item) => !ran(item));
    const report = others.length > 0 ? await runScanners(others, text, context, how) : emptyReport();
    for (const item of lists.window.filter(ran)) {
      const name = item.name + WINDOW_SUFFIX;
      if (isSuppressed(item, suppress, WINDOW_SUFFIX)) report.coverage.suppressed.push(name);
      else copyResult(report, name, source, item.name);
    }
    return report;
  };
  let rewritten: Promise<void> | undefined;
  let fromToolParts: ScanReport[] = [];
  const judgeToolParts = async () => {
    const detecting = lists.tool.filter(({ scanner }) => scanner.conversation?.window);
    const texts = reading.new.tool.map(({ text }) => text);
    const suffix = sourceSuffix("tool");
    fromToolParts = await judgeAssembled(detecting, texts, "tool", suffix);
    for (const report of fromToolParts) {
      await noteUnchanged(report, detecting, suffix, async (items) => {
        await rewritten;
        const left = reading.new.tool.map((text) => sanitized.get(text) ?? text.text);
        return judgeAssembled(items, left, "tool", suffix);
      });
    }
  };
  const total = emptyReport();
  const add = async (what: Scanned) => {
    const ofTexts = jobs[what].flatMap((job) => reports.get(job) ?? []);
    merge(total, await worstInTurns(what === "tool" ? [...ofTexts, ...fromToolParts] : ofTexts, turns));
  };
  /** Everything that is judged besides what users wrote last, in the order of the results. */
  const others = SCANNED.filter((what) => what !== "user");

  try {
    await verdicts.prefetch(conversation.texts);
    if (options.failFast) {
      const stages: (() => Promise<unknown>)[] = [
        async () => {
          await rewriteTexts();
          await judgeTexts("user");
          await add("user");
        },
        async () => merge(total, await windowReport(async () => {})),
        ...others.map((what) => async () => {
          await judgeTexts(what);
          await add(what);
        }),
        async () => {
          if (risk && prompt) merge(total, await riskReport(risk, toRisk, answers, options));
        },
      ];
      for (const stage of stages) {
        await stage();
        if (!total.isValid) break;
      }
    } else {
      rewritten = rewriteTexts();
      const ofUser = Promise.all([rewritten, judgeTexts("user")]);
      const [ofWindow, ofRisk] = await Promise.all([
        windowReport(() => ofUser),
        risk && prompt ? riskReport(risk, toRisk, answers, options) : emptyReport(),
        ofUser,
        ...others.map(judgeTexts),
      ]);
      await add("user");
      merge(total, ofWindow);
      for (const what of others) await add(what);
      merge(total, ofRisk);
    }

    for (const [what, texts] of Object.entries(Object.assign({}, reading.new, { history: reading.history }))) {
      if (lists.off.has(what as Scanned)) continue;
      total.coverage.partsSkipped += texts.reduce((sum, { skipped }) => sum + skipped, 0);
      const own = new Set(texts);
      const unread = jobs[what as Scanned].filter(
        ({ text, items, counted }) => own.has(text) && (counted?.size ?? items.length) === 0,
      );
      addUnread(
        total,
        unread.map(({ text }) => text),
        unit,
      );
    }
    const request = conversation.rewritten(await replacements(total));
    return {
      sanitizedPrompt: prompt === undefined ? "" : (sanitized.get(prompt) ?? prompt.text),
      sanitizedMessages: request.messages,
      ...(request.tools ? { sanitizedTools: request.tools } : {}),
      ...(request.system ? { sanitizedSystem: request.system } : {}),
      ...total,
      engineTiming: answers.timings,
    };
  } finally {
    // When one part throws, nobody needs the results of the others any more, so they are stopped.
    stop();
  }

  /** The new strings of all texts that were rewritten. */
  async function replacements(total: ScanReport): Promise<Map<MessageText, readonly string[]>> {
    const changed = new Map<MessageText, readonly string[]>();
    for (const [job, report] of reports) {
      if (report.text === job.text.text) continue;
      changed.set(job.text, divided(report.text, job.text) ?? (await oneByOne(job, report, total)));
    }
    if (replacing.some(({ scanner }) => scanner.vaultScope === "call")) await replaceKnown(changed);
    return changed;
  }

  /** Replaces values that the vault knows in what the model wrote and tools returned: they were restored there before. */
  async function replaceKnown(changed: Map<MessageText, readonly string[]>): Promise<void> {
    const entries = options.vault.entries();
    if (entries.length === 0) return;
    const answering = conversation.texts
      .filter(({ source }) => isAnswering(source) && !lists.off.has(source))
      .map((text) => ({
        text,
        strings: changed.get(text) ?? text.pieces.map(({ start, end }) => text.text.slice(start, end)),
      }));
    const replaced = await placeholdersFor(entries, { signal })(answering.flatMap(({ strings }) => strings));
    let at = 0;
    for (const { text, strings } of answering) {
      const without = replaced.slice(at, at + strings.length);
      at += strings.length;
      if (without.some((string, index) => string !== strings[index])) changed.set(text, without);
    }
  }

  /**
   * Rewrites the strings of a text by themselves, because nothing tells where they end in the rewritten text. What was found in several
   * strings together stays in them then.
   */
  async function oneByOne({ text, items, suffix }: Job, report: ScanReport, total: ScanReport): Promise<string[]> {
    const sanitizing = items.filter(({ scanner }) => scanner.sanitizes);
    const strings: string[] = [];
    const found = new Map<string, number>();
    for (const { start, end } of text.pieces) {
      if (turns.isOver) await turns.next();
      const context = { answers, source: text.source };
      const {
        text: string,
        findings,
        coverage,
      } = await runScanners(sanitizing, text.text.slice(start, end), context, {
        ...options,
        failFast: false,
        suffix,
      });
      strings.push(string);
      for (const [name, { length }] of Object.entries(findings)) {
        found.set(name, (found.get(name) ?? 0) + length + (coverage.findingsOmitted[name] ?? 0));
      }
    }
    for (const name of sanitizing.map((item) => item.name + suffix)) {
      if (report.resultsValid[name] !== false) continue;
      const all = (report.findings[name]?.length ?? 0) + (report.coverage.findingsOmitted[name] ?? 0);
      if ((found.get(name) ?? 0) < all) addUnchanged(total, [name]);
    }
    return strings;
  }
}

/** Whether a text may hold what was restored in an answer before: what the model wrote, and what tools made of it. */
function isAnswering(source: Source): boolean {
  return source === "assistant" || source === "tool_call" || source === "tool";
}

/** The new texts of a source. Scanners that replace values of users do so in what the model wrote too, where nobody counts them. */
function newJobs(
  source: Source,
  texts: readonly MessageText[],
  lists: ConversationLists,
  replacing: readonly NamedScanner[],
): Job[] {
  const suffix = sourceSuffix(source);
  const items = itemsOf(source, lists, replacing);
  const counted = items === lists[source] ? {} : { counted: new Set(lists[source].map(({ name }) => name + suffix)) };
  return texts.map((text) => ({ text, items, suffix, ...counted }));
}

/** The scanners that look at new texts of a source or rewrite them. */
function itemsOf(
  source: Source,
  lists: ConversationLists,
  replacing: readonly NamedScanner[],
): readonly NamedScanner[] {
  const own = lists[source];
  // What was restored in an answer stands in clear in what the client sends with the next turn.
  if ((source !== "assistant" && source !== "tool_call") || lists.off.has(source)) return own;
  const others = replacing.filter((item) => !own.includes(item));
  return others.length > 0 ? [...own, ...others] : own;
}

/** The tool calls of earlier turns: the scanners that rewrite tool calls rewrite them again, and nobody judges them twice. */
function pastCallJobs(texts: readonly MessageText[], list: readonly NamedScanner[]): Job[] {
  const items = list.filter(({ scanner }) => scanner.sanitizes);
  return items.length === 0 ? [] : texts.map((text) => ({ text, items, suffix: HISTORY_SUFFIX, counted: new Set() }));
}

/**
 * The texts that the model has answered already: the scanners that look at the history judge them, and those that rewrite texts of
 * their source rewrite them again, because the caller sends its own copy.
 */
function historyJobs(texts: readonly MessageText[], lists: ConversationLists, rewrite: boolean): Job[] {
  const ofSource = (source: Source): Omit<Job, "text"> => {
    const list = lists[source];
    const judging = source === "user" ? lists.history : lists.history.filter((item) => list.includes(item));
    const rewriting = list.filter((item) => rewrite && item.scanner.sanitizes && !judging.includes(item));
    // In the order of the list, so that the scanners are given the same texts as when the text was new.
    const known = list.filter((item) => judging.includes(item) || rewriting.includes(item));
    const items = [...known, ...judging.filter((item) => !known.includes(item))];
    return { items, suffix: HISTORY_SUFFIX, counted: new Set(judging.map(({ name }) => name + HISTORY_SUFFIX)) };
  };
  const jobs = { user: ofSource("user"), tool: ofSource("tool") };
  return texts.map((text) => ({ text, ...(text.source === "user" ? jobs.user : jobs.tool) }));
}
