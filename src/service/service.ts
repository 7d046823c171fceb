import type { z } from "zod";
import { type ConversationLists, conversationLists, type GivenLists } from "../conversation/lists.ts";
import {
  type ConversationReport,
  ConversationRisk,
  type conversationRiskOptions,
  type DetectingScanner,
  type ScoringFunction,
  scanConversationTexts,
} from "../conversation/scan-conversation.ts";
import { type DocumentReport, type DocumentsOptions, scanNamedDocuments } from "../documents/scan-documents.ts";
import type { AnsweredToolCall, Conversation } from "../messages/conversation.ts";
import { readConversation, readConversationInTurns } from "../messages/read.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import { merge, worst } from "../scan/merge.ts";
import type { ScanObserver } from "../scan/observer.ts";
import { type Outcome, outcomeOf, replacesValues, takesOut } from "../scan/outcome.ts";
import {
  conversationContext,
  type NamedScanner,
  nameScanners,
  type RunOptions,
  runScanners,
  type ScanOptions,
  type ScanReport,
} from "../scan/scan.ts";
import type { Scanner, Side } from "../scan/scanner.ts";
import { SCANNED, type Scanned, type Source } from "../scan/source.ts";
import type { Vault } from "../scan/vault.ts";
import { VerdictCache } from "../scan/verdict-cache.ts";
import { AnswerScan, type StreamOptions, type StreamReport } from "../stream/answer-scan.ts";
import type { AnswerStream, StreamStep } from "../stream/answer-stream.ts";
import { allInOrder } from "../support/all-in-order.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import { closedError, GuardError, GuardValidationError } from "../support/errors.ts";
import type { Stop } from "../support/stop.ts";
import { within } from "../support/within.ts";
import { Admission } from "./admission/admission.ts";
import type { Machine } from "./admission/machine.ts";
import { type Place, Places, type StreamPlace } from "./places.ts";

/** The milliseconds that scanners have to free what they hold, when the service closes. */
const CLOSING = 5000;

/** The lists of scanners, by side. */
export type ScannerLists = Record<Side, readonly Scanner[]>;

/** The limits of a {@link ScanService}, and the way in which it scans. */
export interface ScanServiceOptions {
  /** The most seconds that a scan of a prompt or of a conversation may take. */
  promptTimeout: number;
  /** The most seconds that a scan of an output may take. */
  outputTimeout: number;
  /** The most scans and open streams at a time, whether they wait or run. Further ones are refused. */
  maxScans: number;
  /**
   * The most seconds that a scan is expected to wait for its turn; see {@link Admission}. By default nothing is refused for its time.
   */
  maxQueueTime?: number;
  /** The most messages that a conversation may have, the most texts in it, and the most documents of a call. */
  maxMessages: number;
  /** Whether models are loaded by the first scan that needs them. Otherwise {@link ScanService.load} loads all of them. */
  lazyLoad: boolean;
  /** Whether a scan ends at the first scanner that fails. */
  failFast: boolean;
  /** What happens when a scanner throws: the scan rejects with an error, or the text fails. */
  onScannerError: "throw" | "block";
  /** Whether a text fails when a part of it was not looked at, or when one of its checks was left out, for whatever reason. */
  requireFullCoverage: boolean;
  /**
   * The scanners, by name or type, whose failing texts may go on as they rewrote them; see {@link outcomeOf}. Scanners that put
   * placeholders of a vault into a text are always among them. By default there are no others.
   */
  masking?: readonly string[];
  /** How outputs are scanned that arrive in pieces. */
  stream?: StreamOptions;
  /**
   * Checks that models and rules say of known texts what they should, and rejects when they do not; see `Engine.selfTest`. A scanner may
   * have a check of its own besides.
   */
  selfTest?: (signal: AbortSignal) => Promise<void>;
  /** The seconds from one self-test to the next. With 0, the default, there is only the one before the service is ready. */
  selfTestInterval?: number;
  /** How conversations are scanned. */
  conversation: {
    /** How many user messages are scanned together. 1 turns this off. */
    window: number;
    /** Whether tool results are scanned. When they are not to be scanned, they do not count as left out. */
    scanToolMessages: boolean;
    /**
     * The names of the scanners that look at texts of a source, or with `history` again at what the model has answered already. By
     * default these are the scanners that ask for it.
     */
    scan?: Partial<Record<Scanned, readonly string[]>> | undefined;
    /** The risk that adds up over the user messages, see {@link ConversationRisk}. */
    risk: {
      enabled: boolean;
      /** Scores the messages. By default the first scanner that tells the probability of an attack does. */
      scoringFunction?: ScoringFunction | undefined;
    } & z.input<typeof conversationRiskOptions>;
  };
}

/** What a caller of the service asks for besides the texts. */
export interface ScanRequest {
  /** The scanners to leave out, by their types or by their names in results. */
  suppress: readonly string[];
  /** Scanners that take the place of others for this call, such as the same ones with another threshold. */
  instead?: ReadonlyMap<Scanner, Scanner> | undefined;
  /** Whether findings and coverage will be shown. If so, their offsets and lengths count Unicode code points. */
  details: boolean;
  /** With `false`, no text is rewritten and every scanner sees the original. */
  rewrite: boolean;
  /** The vault of this call alone. It must never be one that callers share. */
  vault: Vault;
  /** A signal that is aborted when nobody waits for the result any more. */
  signal?: AbortSignal | undefined;
  /** The same where it is for this call alone. The service then needs none of its own. */
  stop?: Stop | undefined;
  /** Is told of the scanners and models of this call. */
  observer?: ScanObserver | undefined;
  /**
   * Who asks: a text of the program's own that tells callers apart. What was kept of the texts of one caller is used for no other one,
   * who could tell from the time of an answer what the first one sent. Calls without it are all of one caller.
   */
  caller?: string | undefined;
  /** Who takes turns with others when scans have to wait. By default that is the caller. */
  turn?: string | undefined;
}

/** Scans the same texts again, with the scanners of another service. */
export type Rescan = (service: ScanService, request: ScanRequest) => Promise<ServiceReport>;

/** A report with the text as the sanitizing scanners left it. */
export type ServiceReport = ScanReport & {
  text: string;
  /** What becomes of the text, or of all texts of the call. */
  outcome: Outcome;
  /** The scanners that ran at the end of an output that arrived in pieces, because they need all of it. */
  atEnd?: string[];
  /** The tool calls of an output, as they may be made: with what was restored in their arguments. */
  sanitizedToolCalls?: AnsweredToolCall[];
  /** The results of each document, where documents were scanned. The report itself then has the worst results of them all. */
  documents?: ServiceDocument[];
} & Partial<Pick<ConversationReport, "sanitizedMessages" | "sanitizedTools" | "sanitizedSystem">>;

/** The results for a document. The text is there when it may have been rewritten or masked. */
export type ServiceDocument = Omit<DocumentReport, "sanitizedText"> & Partial<Pick<DocumentReport, "sanitizedText">>;

/**
 * Runs the scans of one program. It holds the scanners, loads them, and limits how many scans run and for how long. The HTTP API
 * and the command line use it, and it depends on neither.
 *
 * Its methods reject with a {@link GuardError} whose message is a whole sentence that quotes no text. The codes are
 * `GUARD_STARTING` before the models are loaded, `GUARD_UNAVAILABLE` when a model could not be loaded or a self-test has failed,
 * `GUARD_CLOSED` after {@link close}, `GUARD_OVERLOADED` when too much waits or runs (`retryAfter` tells for how many seconds), `GUARD_TIMEOUT` when a scan
 * takes too long, and `GUARD_TOO_LARGE` for a conversation with too many messages or for too many documents. They reject with the
 * reason of the caller's signal when that signal is aborted.
 */
export class ScanService {
  readonly #options: ScanServiceOptions;
  readonly #named: Record<Side, NamedScanner[]>;
  readonly #lists: ScannerLists;
  /** Which input scanners look at texts of which source. */
  readonly #looking: ConversationLists;
  readonly #risk: ConversationRisk | undefined;
  readonly #verdicts: VerdictCache;
  readonly #masking: ReadonlySet<string>;
  #notReady: GuardError | undefined = new GuardError(
    "GUARD_STARTING",
    "The service is starting: its models are being loaded.",
  );
  #closing = false;
  /** Decides which scans run, wait or are refused. */
  readonly admission: Admission;
  readonly #places: Places;
  /** Tells what this service scans from what others do that share its admission: their scanners cost something else. */
  readonly #kinds: string;
  /** Frees the places of streams that were thrown away before their end. */
  readonly #forgotten = new FinalizationRegistry<StreamPlace>((place) => place.end(closedError()));
  /** Ends the loading of models, and self-tests, when the service closes. */
  readonly #closed = new AbortController();
  #selfTests: NodeJS.Timeout | undefined;
  readonly #onFailedSelfTest = new Set<(error: unknown) => void>();

  /**
   * @param admission decides which scans run. Services that share a machine share one.
   * @throws GuardValidationError for a scanner with a reserved name (path `scanners.input.0.name`), and when accumulated risk is
   *   enabled but no scanner can return the probability of an attack (path `conversation.risk.enabled`).
   */
  constructor(
    lists: ScannerLists,
    options: ScanServiceOptions,
    verdicts = new VerdictCache(),
    admission = admissionOf(options),
  ) {
    this.#options = options;
    this.admission = admission;
    this.#places = new Places(admission);
    this.#kinds = `${admission.join()} `;
    this.#lists = lists;
    this.#named = {
      input: nameScanners(lists.input, "scanners.input"),
      output: nameScanners(lists.output, "scanners.output"),
    };
    this.#looking = conversationLists(this.#named.input, listsByName(options, this.#named.input));
    this.#risk = conversationRisk(options, lists.input);
    this.#verdicts = verdicts;
    this.#masking = new Set(options.masking);
    checkMasking(this.#masking, [...this.#named.input, ...this.#named.output]);
    if (options.lazyLoad) this.#notReady = undefined;
  }

  /**
   * How many scans have not ended yet, whether they wait or run. This includes scans whose result nobody waits for any more but whose
   * scanners still run.
   */
  get running(): number {
    return this.#places.taken;
  }

  /** The scanners of each side, with their names in results. */
  get scanners(): Readonly<Record<Side, readonly NamedScanner[]>> {
    return this.#named;
  }

  /** Whether outputs are restored from the vault of their call. */
  get restores(): boolean {
    return this.#restoring.length > 0;
  }

  get #restoring(): NamedScanner[] {
    return this.#named.output.filter(({ scanner }) => scanner.vaultScope === "call" && scanner.sanitizes);
  }

  /** Whether the verdicts of a side may change although texts and options stay the same. */
  isVolatile(side: Side): boolean {
    return this.#lists[side].some(({ volatile }) => volatile);
  }

  /** The reason why no scan is possible now, or undefined when scans are possible. */
  get notReady(): GuardError | undefined {
    return this.#closing ? closedError() : this.#notReady;
  }

  /**
   * Loads what the scanners need, all of them at the same time: while a thread reads one model, another one reads the next.
   *
   * @throws GuardError `GUARD_SCANNER` when a scanner cannot be loaded. The service then refuses all scans.
   */
  async load(): Promise<void> {
    if (!this.#options.lazyLoad) await this.#loadScanners();
    if (this.#closing) return;
    await this.selfTest();
    this.#notReady = undefined;
    const { selfTestInterval = 0 } = this.#options;
    if (selfTestInterval === 0) return;
    let isTesting = false;
    this.#selfTests = setInterval(async () => {
      // Callers come first: a service that is full takes its next test when it has the time.
      if (isTesting || this.running >= this.#options.maxScans) return;
      isTesting = true;
      await this.selfTest().catch(() => undefined);
      isTesting = false;
    }, selfTestInterval * 1000).unref();
  }

  /**
   * Checks that what the service scans with says of known texts what it should. The service does this itself before it is ready and, if it
   * is told to, from time to time. After a failure it refuses all scans for as long as it lives: what was wrong once, because a memory or a
   * processor is damaged, may be wrong again where no known text shows it.
   *
   * A self-test that finds no place in the queue of a model decides nothing.
   *
   * @throws GuardError `GUARD_SCANNER` when something differs.
   */
  async selfTest(): Promise<void> {
    const { signal } = this.#closed;
    try {
      await this.#options.selfTest?.(signal);
      const scanners = new Set([...this.#lists.input, ...this.#lists.output]);
      for (const scanner of scanners) await scanner.selfTest?.(signal);
    } catch (error) {
      if (this.#closing || (error instanceof GuardError && error.code === "GUARD_OVERLOADED")) return;
      clearInterval(this.#selfTests);
      this.#notReady = new GuardError(
        "GUARD_UNAVAILABLE",
        "A self-test failed: a scanner does not say what it should. There are no scans until the service is started again.",
      );
      for (const listener of this.#onFailedSelfTest) listener(error);
      throw new GuardError("GUARD_SCANNER", `a self-test failed: ${(error as Error)?.message}`, { cause: error });
    }
  }

  /** Calls a listener with the reason when a self-test fails. */
  onFailedSelfTest(listener: (error: unknown) => void): void {
    this.#onFailedSelfTest.add(listener);
  }

  async #loadScanners(): Promise<void> {
    const named = [...this.#named.input, ...this.#named.output];
    const loading = named.map(async ({ name, scanner }) => {
      try {
        await scanner.load?.(this.#closed.signal);
      } catch (error) {
        if (this.#closing) return;
        this.#notReady = new GuardError("GUARD_UNAVAILABLE", `The scanner ${name} could not be loaded.`);
        throw new GuardError("GUARD_SCANNER", `${name} could not be loaded: ${(error as Error)?.message}`, {
          cause: error,
        });
      }
    });
    await allInOrder(loading);
  }

  /** Refuses new scans, ends the running scans and frees the scanners. It does not wait for a scanner that takes longer than 5 s to end. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#selfTests);
    const reason = closedError();
    this.#closed.abort(reason);
    this.#places.close(reason);
    const scanners = [...new Set([...this.#lists.input, ...this.#lists.output])];
    await within(Promise.allSettled(scanners.map(async (scanner) => scanner.close?.())), CLOSING);
  }

  /**
   * Scans a prompt with the input scanners that look at texts of its source.
   *
   * @param source where the text comes from: a document that was retrieved is `tool`.
   */
  prompt(prompt: string, request: ScanRequest, source: Source = "user"): Promise<ServiceReport> {
    return this.#run("input", { kind: "prompt", chars: prompt.length }, request, async (options, stop) => {
      const scanners = swapping(request)(this.#looking[source]);
      const report = await runScanners(scanners, prompt, { source }, { stop, ...options });
      if (scanners.length === 0) report.coverage.unscannedSources[source] = report.coverage.chars;
      return report;
    });
  }

  /**
   * Scans a model's output, which answers `prompt`, with the output scanners.
   *
   * @param conversation the conversation that the output answers, for scanners that compare with it.
   * @param toolCalls the tool calls that stand beside the output. The scanners that look at tool calls judge them, and values that
   *   were replaced are restored in their arguments.
   */
  async output(
    prompt: string,
    output: string,
    request: ScanRequest,
    conversation?: ChatRequest,
    toolCalls?: readonly AnsweredToolCall[],
  ): Promise<ServiceReport> {
    if (conversation) this.#checkSize(conversation);
    const context = {
      prompt,
      source: "assistant" as const,
      ...conversationContext(conversation ? { conversation } : {}),
    };
    const calling = toolCalls?.length
      ? callsOf(conversation ?? { messages: [{ role: "user", content: prompt }] }, toolCalls)
      : undefined;
    return this.#run("output", { kind: "output", chars: output.length }, request, async (options, stop) => {
      // An answer that only calls tools says nothing that could be judged as a text.
      const scanners = calling && output === "" ? [] : swapping(request)(this.#named.output);
      const report = await runScanners(scanners, output, context, { stop, ...options });
      if (!calling || (options.failFast && !report.isValid)) return report;
      const { sanitizedToolCalls, ...ofCalls } = await this.#toolCalls(
        calling,
        { ...options, signal: stop.signal },
        request.caller,
      );
      merge(report, ofCalls);
      return { sanitizedToolCalls, ...report };
    });
  }

  /**
   * Scans a model's output while it arrives. The arguments are those of {@link output}. Each step rejects as that method does, and after
   * that the stream can only be thrown away. The report has no text, because the steps have given it out.
   *
   * A stream takes one of the places for scans from its first step until it ends, whether it is scanned or waits for the model. When
   * the caller does not end it, the signal has to. The time limit holds for each step: the time between them does not count.
   */
  outputStream(prompt: string, request: ScanRequest, conversation?: ChatRequest): AnswerStream<ServiceReport> {
    let opened: { place: StreamPlace; scan: AnswerScan } | undefined;
    const open = () => {
      if (conversation) this.#checkSize(conversation);
      if (this.notReady) throw this.notReady;
      const { caller, turn = caller, stop, signal = stop?.signal } = request;
      const place = this.#places.stream({
        kind: `${this.#kinds}stream`,
        caller: turn,
        signal,
        seconds: this.#options.outputTimeout,
      });
      // What is registered must not refer to the stream.
      this.#forgotten.register(stream, place);
      const ofConversation = conversationContext(conversation ? { conversation } : {});
      const scan = new AnswerScan({
        ...this.#options.stream,
        named: swapping(request)(this.#named.output),
        context: { prompt, source: "assistant", ...ofConversation },
        options: { ...this.#optionsOf(request, place), signal: place.signal },
        decide: (report) => this.#decided(report, "output"),
      });
      return { place, scan };
    };
    const step = async (
      chars: number,
      take: (scan: AnswerScan) => Promise<StreamStep<StreamReport>>,
    ): Promise<StreamStep<ServiceReport>> => {
      opened ??= open();
      const { place, scan } = opened;
      const { text, report } = await place.step(chars, () => take(scan));
      if (!report) return { text };
      place.end(new GuardError("GUARD_CLOSED", "The answer has ended."));
      return { text, report: { ...report, text: "" } };
    };
    const stream: AnswerStream<ServiceReport> = {
      get waiting() {
        return opened?.scan.waiting;
      },
      push: (piece) => step(piece.length, (scan) => scan.push(piece)),
      flush: () => step(0, (scan) => scan.flush()),
      end: () => step(0, (scan) => scan.end()),
    };
    return stream;
  }

  /** Judges the tool calls of the last message of a conversation, and restores values in their arguments. */
  async #toolCalls(
    conversation: Conversation,
    options: RunsOptions & { signal: AbortSignal },
    caller: string | undefined,
  ): Promise<ScanReport & { sanitizedToolCalls: AnsweredToolCall[] }> {
    const none = Object.fromEntries(SCANNED.map((what) => [what, []])) as unknown as Record<Scanned, []>;
    const off = new Set(SCANNED.filter((what) => what !== "tool_call" || this.#looking.off.has(what)));
    const lists = { ...none, window: [], tool_call: this.#looking.tool_call, off };
    const {
      sanitizedPrompt: _,
      sanitizedMessages,
      ...report
    } = await scanConversationTexts(lists, conversation, {
      ...options,
      verdicts: this.#verdicts.forCaller(caller),
    });
    const judged = readConversation({ messages: sanitizedMessages.slice(-1) });
    const restored = new Map<MessageText, string[]>();
    for (const text of options.rewrite && this.restores ? judged.texts : []) {
      const strings: string[] = [];
      for (const { start, end } of text.pieces) {
        const { text: string } = await runScanners(this.#restoring, text.text.slice(start, end), {}, options);
        strings.push(string);
      }
      restored.set(text, strings);
    }
    const [message] = judged.rewritten(restored).messages;
    return { sanitizedToolCalls: message?.tool_calls as AnsweredToolCall[], ...report };
  }

  /** Scans a conversation with the input scanners, as {@link scanConversation} does. */
  async conversation(chat: ChatRequest, request: ScanRequest): Promise<ServiceReport> {
    const { conversation } = this.#options;
    this.#checkSize(chat);
    const texts = await readConversationInTurns(chat, request.stop?.signal ?? request.signal);
    // One message may hold any number of tool results, and each of them is a text to scan.
    this.#checkSize({ messages: texts.texts });
    const chars = lengthOf(texts.texts.map(({ text }) => text));
    return this.#run("input", { kind: "conversation", chars }, request, async (options, { signal }) => {
      const { sanitizedPrompt, ...report } = await scanConversationTexts(listsFor(request, this.#looking), texts, {
        signal,
        window: conversation.window,
        verdicts: this.#verdicts.forCaller(request.caller),
        ...(this.#risk ? { risk: this.#risk.forCaller(request.caller) } : {}),
        ...options,
      });
      return { text: sanitizedPrompt, ...report };
    });
  }

  /**
   * Scans documents, each by itself, with the input scanners that look at texts of their source, as {@link scanDocuments} does. All
   * of them together are one scan, with the time limit of a prompt.
   *
   * @param source where the documents come from.
   */
  async documents(
    texts: readonly string[],
    request: ScanRequest,
    { maskInjections = false, source = "tool" }: Pick<DocumentsOptions, "maskInjections" | "source"> = {},
  ): Promise<ServiceReport> {
    const { requireFullCoverage } = this.#options;
    this.checkCount(texts, "documents");
    const scanners = swapping(request)(this.#looking[source]);
    return this.#run("input", { kind: "documents", chars: lengthOf(texts) }, request, async (options, { signal }) => {
      // Places of cuts are always shown, so their offsets count what all places that are shown count.
      const counting = maskInjections ? ({ offsets: "codePoint" } as const) : {};
      const given = Object.assign({ signal, maskInjections, source }, options, counting);
      const { documents, engineTiming } = await scanNamedDocuments(scanners, texts, given, false);
      const isCovered = (report: Pick<ScanReport, "coverage">) =>
        !requireFullCoverage || unscannedReasons(report).length === 0;
      const judged = documents.map(({ sanitizedText, masked, ...document }): ServiceDocument => {
        const { coverage } = document;
        if (scanners.length === 0) coverage.unscannedSources[source] = coverage.chars;
        return {
          ...document,
          isValid: document.isValid && isCovered(document),
          ...(options.rewrite || maskInjections ? { sanitizedText } : {}),
          ...(masked ? { masked: { ...masked, isValid: masked.isValid && isCovered(masked) } } : {}),
        };
      });
      const total = worst(
        judged.map(({ sanitizedText: _, masked: __, ...report }) => ({ engineTiming: {}, ...report })),
      );
      return { text: "", documents: judged, ...total, findings: {}, engineTiming };
    });
  }

  /**
   * Checks that a call has no more texts than {@link ScanServiceOptions.maxMessages}.
   *
   * @param what what the texts are, for the error.
   * @throws GuardError `GUARD_TOO_LARGE`.
   */
  checkCount(texts: readonly unknown[], what: string): void {
    const { maxMessages } = this.#options;
    if (texts.length <= maxMessages) return;
    throw new GuardError("GUARD_TOO_LARGE", `A call may have ${maxMessages} ${what} at most.`);
  }

  /**
   * Refuses a call whose texts nobody has read yet, where they would only be refused later because too much waits already.
   *
   * @param chars the characters of the texts, as far as they are known.
   * @param turn who takes turns with others; see {@link ScanRequest.turn}.
   * @throws GuardError `GUARD_OVERLOADED`.
   */
  refuseUnread(kind: ScanKind, chars: number, turn: string | undefined): void {
    this.admission.refuseUnread({ kind: this.#kinds + kind, chars, caller: turn, timeout: this.#timeout(kind) });
  }

  #checkSize({ messages }: { messages: readonly unknown[] }): void {
    const { maxMessages } = this.#options;
    // What is no list has no length, and is refused where it is read.
    if (!(messages?.length > maxMessages)) return;
    throw new GuardError("GUARD_TOO_LARGE", `A conversation may have ${maxMessages} messages at most.`);
  }

  async #run(
    side: Side,
    { kind, chars }: { kind: ScanKind; chars: number },
    request: ScanRequest,
    scan: (options: RunsOptions, stop: Stop) => Promise<Omit<ServiceReport, "outcome">>,
  ): Promise<ServiceReport> {
    if (this.notReady) throw this.notReady;
    const { caller, turn = caller, signal, stop } = request;
    const report = await this.#places.run(
      { kind: this.#kinds + kind, chars, caller: turn, signal, stop, seconds: this.#timeout(kind) },
      (place) => scan(this.#optionsOf(request, place), place.stop),
    );
    return Object.assign(report, this.#decided(report, side));
  }

  /** The most seconds that a scan may take. */
  #timeout(kind: ScanKind): number {
    return kind === "output" ? this.#options.outputTimeout : this.#options.promptTimeout;
  }

  /** How a scan runs. */
  #optionsOf(
    { suppress, details, rewrite, vault, observer }: ScanRequest,
    { onWork }: Pick<Place, "onWork">,
  ): RunsOptions {
    const { failFast, onScannerError } = this.#options;
    return {
      failFast,
      onScannerError,
      suppress,
      rewrite,
      vault,
      offsets: details ? ("codePoint" as const) : ("utf16" as const),
      ...(observer ? { observer } : {}),
      onWork,
    };
  }

  /** Decides whether a text is valid under the options, and what becomes of it. */
  #decided(report: ScanReport, side: Side): Pick<ServiceReport, "isValid" | "outcome"> {
    const { failFast, requireFullCoverage } = this.#options;
    const isIncomplete = requireFullCoverage && unscannedReasons(report).length > 0;
    const isValid = report.isValid && !isIncomplete;
    // A scan that stopped at a failing check says nothing of the others, so that what is left of the text may not go on.
    const isUndecided = isIncomplete || (failFast && !isValid);
    if (isUndecided) return { isValid, outcome: "blocked" };
    return { isValid, outcome: outcomeOf(report, this.#named[side], this.#masking, this.#named.input) };
  }
}

/** What a call scans. */
export type ScanKind = "prompt" | "output" | "conversation" | "documents";

/** How the scans of a call run. */
type RunsOptions = ScanOptions & { rewrite: boolean } & Pick<RunOptions, "onWork">;

/**
 * Returns a function that puts the scanners of a request in the place of others, under the names of these. What is in several lists stays
 * the same in all of them.
 */
function swapping({ instead }: ScanRequest): (items: readonly NamedScanner[]) => readonly NamedScanner[] {
  if (!instead) return (items) => items;
  const known = new Map<NamedScanner, NamedScanner>();
  const swapped = (item: NamedScanner): NamedScanner => {
    const found = known.get(item) ?? { ...item, scanner: instead.get(item.scanner) ?? item.scanner };
    known.set(item, found);
    return found;
  };
  return (items) => items.map(swapped);
}

/** The same for all lists of a conversation. */
function listsFor(request: ScanRequest, lists: ConversationLists): ConversationLists {
  const { off, ...all } = lists;
  const swap = swapping(request);
  const swapped = Object.fromEntries(Object.entries(all).map(([what, items]) => [what, swap(items)]));
  return { off, ...(swapped as typeof all) };
}

/** Returns an admission with the limits of a service. */
export function admissionOf(
  { maxScans, maxQueueTime = Number.POSITIVE_INFINITY }: ScanServiceOptions,
  machine?: Machine,
): Admission {
  return new Admission({ maxScans, maxQueueTime }, machine);
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/**
 * Returns the reasons why some scanner did not look at everything, under the names that the coverage uses. The list is empty when
 * every scanner looked at everything.
 */
export function unscannedReasons({ coverage }: Pick<ScanReport, "coverage">): string[] {
  const { truncated, scannedChars, chars, partsSkipped, suppressed, failed, untrainedLanguage } = coverage;
  const isUntrained = Object.keys(untrainedLanguage).length > 0;
  const ofSources = Object.values(coverage.unscannedSources).reduce((sum, length) => sum + length, 0);
  const reasons: string[] = [];
  // Text that nobody looked at because of its source, or that a model left out because of its language, is not cut off.
  if (truncated || (scannedChars < chars - ofSources && !isUntrained)) reasons.push("truncated");
  if (ofSources > 0) reasons.push("unscanned_source");
  if (partsSkipped > 0) reasons.push("parts_skipped");
  if (suppressed.length > 0) reasons.push("suppressed");
  if (failed.length > 0) reasons.push("failed");
  if (isUntrained) reasons.push("untrained_language");
  return reasons;
}

/** Reads the conversation that ends with a message of tool calls. */
function callsOf({ messages, tools, system }: ChatRequest, toolCalls: readonly AnsweredToolCall[]): Conversation {
  const called = { role: "assistant", content: null, tool_calls: toolCalls };
  return readConversation({ messages: [...messages, called], tools, system });
}

/** @throws GuardValidationError for a name that no scanner has that rewrites texts. */
function checkMasking(masking: ReadonlySet<string>, named: readonly NamedScanner[]): void {
  const issues = [...masking].flatMap((wanted, index) => {
    const found = named.filter(({ name, scanner }) => name === wanted || scanner.type === wanted);
    if (found.some(({ scanner }) => takesOut(scanner))) return [];
    const names = named.filter(({ scanner }) => takesOut(scanner) && !replacesValues(scanner)).map(({ name }) => name);
    const message =
      found.length > 0
        ? `${wanted} does not take out all that it finds`
        : `unknown scanner ${wanted}${didYouMean(wanted, names) || "; name a scanner that rewrites texts"}`;
    return [{ path: `app.masking.${index}`, message }];
  });
  if (issues.length > 0) throw new GuardValidationError(issues);
}

function conversationRisk(
  { conversation }: ScanServiceOptions,
  scanners: readonly Scanner[],
): ConversationRisk | undefined {
  const { enabled, scoringFunction, ...options } = conversation.risk;
  if (!enabled) return undefined;
  if (scoringFunction) return new ConversationRisk(scoringFunction, options);
  const scanner = scanners.find(({ detect }) => detect !== undefined);
  if (!scanner) {
    const message = "needs a scanner in input_scanners that tells the probability of an attack";
    throw new GuardValidationError([{ path: "conversation.risk.enabled", message }]);
  }
  return ConversationRisk.fromScanner(scanner as DetectingScanner, options);
}

/**
 * Finds the scanners that the options name for sources.
 *
 * @throws GuardValidationError for a name that no input scanner has, with its path.
 */
export function listsByName(
  { conversation }: Pick<ScanServiceOptions, "conversation">,
  named: readonly NamedScanner[],
): GivenLists {
  const { scan = {}, scanToolMessages } = conversation;
  if (!scanToolMessages && scan.tool && scan.tool.length > 0) {
    const message = "names scanners for tool results, but scan_tool_messages is false";
    throw new GuardValidationError([{ path: "conversation.scan.tool", message }]);
  }
  const lists: GivenLists = scanToolMessages ? {} : { tool: [] };
  for (const what of SCANNED) {
    const names = scan[what];
    if (!names) continue;
    const chosen = new Set<NamedScanner>();
    for (const [index, name] of names.entries()) {
      const found = named.filter((item) => item.name === name || item.scanner.type === name);
      if (found.length === 0) {
        const hint =
          didYouMean(
            name,
            named.map((item) => item.name),
          ) || "; name a scanner of input_scanners";
        const path = `conversation.scan.${what}.${index}`;
        throw new GuardValidationError([{ path, message: `unknown scanner ${name}${hint}` }]);
      }
      for (const item of found) chosen.add(item);
    }
    // In the order of the list: there they run in this order.
    lists[what] = named.filter((item) => chosen.has(item));
  }
  return lists;
}
