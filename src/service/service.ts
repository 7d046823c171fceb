import { scanTexts } from "../conversation/conversation-scan.ts";
import { type ConversationScanners, conversationScanners } from "../conversation/conversation-scanners.ts";
import { stringsOf } from "../conversation/edited-strings.ts";
import { ConversationRisk, type DetectingScanner, sanitizedRequest } from "../conversation/scan-conversation.ts";
import { conversationContext } from "../conversation/single-text.ts";
import { type DocumentResult, scanNamedDocuments } from "../documents/document-scan.ts";
import { type DocumentsOptions, documentReport } from "../documents/scan-documents.ts";
import type { AnsweredToolCall, Conversation } from "../messages/conversation.ts";
import { readConversation, readConversationInSlices } from "../messages/read-conversation.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import { fails, isInReview, isValid, mergeResults, type ScanResult } from "../scan/check-result.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import type { Edit } from "../scan/edits.ts";
import type { Exceptions } from "../scan/exceptions/exceptions.ts";
import { Locator } from "../scan/locator.ts";
import { isEverywhere, leastStrict, type ModeSetting, modeOf } from "../scan/mode.ts";
import { type NamedScanner, nameScanners } from "../scan/named-scanners.ts";
import { checkMasking, masks } from "../scan/outcome.ts";
import { reportOf, type ScanReport } from "../scan/report.ts";
import type { RunOptions } from "../scan/scan-options.ts";
import type { Scanner, ScannerLists, Side } from "../scan/scanner.ts";
import { SCAN_GROUPS, type ScanGroup, type Source } from "../scan/source.ts";
import { scanText, type TextResult } from "../scan/text-scan.ts";
import { VerdictCache } from "../scan/verdict-cache.ts";
import type { AnswerStream, StreamStep } from "../stream/answer-stream.ts";
import { createAnswerScan } from "../stream/monitored-answer-scan.ts";
import type { StreamReport } from "../stream/stream-options.ts";
import { closedError, GuardError, GuardValidationError } from "../support/errors.ts";
import type { LazyAbortController } from "../support/lazy-abort-controller.ts";
import type { Machine } from "../support/machine.ts";
import { awaitWithin } from "../support/promises.ts";
import { Admission } from "./admission/admission.ts";
import { type DecisionPolicy, decide, enforcesSettings, unscannedReasons } from "./decision.ts";
import { type MessageScan, scanMessage } from "./message-scan.ts";
import { Readiness } from "./readiness.ts";
import { requestReviews } from "./request-reviews.ts";
import type { ReviewDesk } from "./review-desk.ts";
import { type ScanSlot, ScanSlots, type StreamSlot } from "./scan-slots.ts";
import { replaceScanners, scannerReplacer, sourceLists } from "./scanner-selection.ts";
import type { ScanKind, ScanRequest, ScanServiceOptions, ServiceDocument, ServiceReport } from "./service-types.ts";

/** Milliseconds that scanners have to free their resources when the service closes. */
const CLOSE_TIMEOUT = 5000;

/** The run options of all scans of a call. */
type CallRunOptions = RunOptions & { rewrite: boolean };

/** A report whose outcome may not be decided yet. */
type UndecidedReport = Omit<ServiceReport, "outcome"> & Partial<Pick<ServiceReport, "outcome">>;

/**
 * Runs the scans of one program. It holds the scanners, loads them, limits how many scans run and for how long, and decides about texts. The
 * HTTP API, the command line, gateways and MCP use it, and it depends on none of them.
 *
 * Its methods reject with a {@link GuardError} whose message is a whole sentence that quotes no text. The codes are `GUARD_STARTING` before
 * the models are loaded, `GUARD_UNAVAILABLE` when a model could not be loaded or a self-test failed, `GUARD_CLOSED` after {@link close},
 * `GUARD_OVERLOADED` when too much waits or runs (`retryAfter` tells for how many seconds), `GUARD_TIMEOUT` when a scan takes too long,
 * and `GUARD_TOO_LARGE` for too many messages or documents. They reject with the reason of the caller's signal when it is aborted.
 */
export class ScanService {
  /** Decides which scans run, wait or are refused. */
  readonly admission: Admission;
  readonly #options: ScanServiceOptions;
  readonly #named: Record<Side, NamedScanner[]>;
  readonly #lists: ScannerLists;
  readonly #conversation: ConversationScanners;
  readonly #risk: ConversationRisk | undefined;
  readonly #verdicts: VerdictCache;
  readonly #policy: DecisionPolicy;
  readonly #readiness: Readiness;
  readonly #slots: ScanSlots;
  #reviewDesk: ReviewDesk | undefined;
  /** Keys the cost estimates of this service: other services that share its admission have other scanners. */
  readonly #costKey: string;
  /** Frees the slots of streams that were garbage-collected before their end. */
  readonly #forgotten = new FinalizationRegistry<StreamSlot>((slot) => slot.end(closedError()));

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
    const { failFast, requireFullCoverage, stateful = "allow", masking, review = "hold", mode } = options;
    this.#options = options;
    this.admission = admission;
    this.#slots = new ScanSlots(admission);
    this.#costKey = `${admission.registerService()} `;
    this.#lists = lists;
    this.#named = {
      input: nameScanners(lists.input, "scanners.input"),
      output: nameScanners(lists.output, "scanners.output"),
    };
    this.#conversation = conversationScanners(this.#named.input, sourceLists(options, this.#named.input), mode);
    this.#risk = conversationRisk(options, lists.input);
    this.#verdicts = verdicts;
    const settings = { review, failFast, requireFullCoverage, stateful, mode };
    this.#policy = { scanners: this.#named, masking: new Set(masking), ...settings };
    const all = [...this.#named.input, ...this.#named.output];
    checkMasking(this.#policy.masking, { named: all, path: "app.masking" });
    this.#readiness = new Readiness(
      all.filter(({ scanner }) => !isEverywhere(leastStrict(mode, scanner.mode), "off")),
      options,
    );
  }

  /**
   * The number of scans that have not ended, waiting and running. This includes scans whose result nobody waits for any more but whose
   * scanners still run.
   */
  get running(): number {
    return this.#slots.taken;
  }

  /** The mode of all scanners. */
  get mode(): ModeSetting | undefined {
    return this.#options.mode;
  }

  /** The scanners of each side. */
  get lists(): ScannerLists {
    return this.#lists;
  }

  /** The scanners of each side, with their names in results. */
  get scanners(): Readonly<Record<Side, readonly NamedScanner[]>> {
    return this.#named;
  }

  /** Keeps the texts in review from now on. Without a desk, nobody can decide about them here. */
  set reviewDesk(desk: ReviewDesk) {
    this.#reviewDesk = desk;
  }

  /** The exceptions of all scans. */
  get exceptions(): Exceptions | undefined {
    return this.#options.exceptions;
  }

  /** The input scanners for new texts of a source. */
  scannersOf(source: Source): readonly NamedScanner[] {
    return this.#conversation[source];
  }

  /** Whether texts that fail only by this scanner are masked instead of blocked. */
  masks(item: NamedScanner): boolean {
    return masks(item, this.#policy.masking);
  }

  /** Whether placeholders in outputs are replaced by the values of the call's vault. */
  get restores(): boolean {
    return this.#restoring.length > 0;
  }

  get #restoring(): NamedScanner[] {
    const { mode } = this.#options;
    return this.#named.output.filter(
      ({ scanner }) =>
        scanner.vaultScope === "call" && scanner.sanitizes && modeOf("output", [mode, scanner.mode]) === "enforce",
    );
  }

  /** Whether the verdicts of a side may change although texts and options are the same. */
  isVolatile(side: Side): boolean {
    return this.#lists[side].some(({ volatile }) => volatile);
  }

  /** The reason why no scan is possible now, or undefined if scans are possible. */
  get notReady(): GuardError | undefined {
    return this.#readiness.error;
  }

  /**
   * Loads the models and data of the scanners, and runs the self-tests.
   *
   * @throws GuardError `GUARD_SCANNER` if a scanner can't be loaded. The service then refuses all scans.
   */
  load(): Promise<void> {
    return this.#readiness.load(() => this.running >= this.#options.maxScans);
  }

  /** Runs the self-tests now; see {@link Readiness.selfTest}. */
  selfTest(): Promise<void> {
    return this.#readiness.selfTest();
  }

  /** Calls a listener with the reason when a self-test fails. */
  onFailedSelfTest(listener: (error: unknown) => void): void {
    this.#readiness.onFailedSelfTest(listener);
  }

  /** Refuses new scans, ends the running scans and frees the scanners. It waits at most 5 s for a scanner. */
  async close(): Promise<void> {
    const reason = closedError();
    this.#readiness.close(reason);
    this.#slots.close(reason);
    const scanners = [...new Set([...this.#lists.input, ...this.#lists.output])];
    await awaitWithin(Promise.allSettled(scanners.map(async (scanner) => scanner.close?.())), CLOSE_TIMEOUT);
    await this.#options.onClose?.();
  }

  /**
   * Scans a prompt with the input scanners for its source.
   *
   * @param source where the text comes from. The source of a retrieved document is `tool`.
   */
  prompt(prompt: string, request: ScanRequest, source: Source = "user"): Promise<ServiceReport> {
    return this.#run("input", { kind: "prompt", chars: prompt.length }, request, async (options, stop) => {
      const scanners = scannerReplacer(request)(this.#conversation[source]);
      const result = await scanText(scanners, prompt, { source }, { stop, ...options });
      if (scanners.length === 0) result.coverage.unscannedSources[source] = result.coverage.chars;
      return textReport(result, prompt, options);
    });
  }

  /**
   * Scans one text of a conversation with the input scanners for its source, in the context of that conversation.
   *
   * @param scan the texts that scanners may compare with, and whether attacks are cut out of a text that fails.
   */
  message(text: MessageText, request: ScanRequest, scan: MessageScan): Promise<ServiceReport> {
    const scanners = scannerReplacer(request)(this.#conversation[text.source]);
    return this.#run("input", { kind: "prompt", chars: text.text.length }, request, (options, stop) =>
      scanMessage(text, scanners, scan, Object.assign({ signal: stop.signal }, options), (report) =>
        decide(report, "input", this.#policy),
      ),
    );
  }

  /**
   * Scans a model's answer to `prompt` with the output scanners.
   *
   * @param conversation the conversation that the output answers, for scanners that compare with it.
   * @param toolCalls the tool calls of the output. The scanners for tool calls judge them, and replaced values are restored in their
   *   arguments.
   */
  async output(
    prompt: string,
    output: string,
    request: ScanRequest,
    conversation?: ChatRequest,
    toolCalls?: readonly AnsweredToolCall[],
  ): Promise<ServiceReport> {
    if (conversation) this.#checkSize(conversation);
    const context = { prompt, source: "assistant" as const, ...conversationContext(conversation) };
    const calling = toolCalls?.length
      ? withToolCalls(conversation ?? { messages: [{ role: "user", content: prompt }] }, toolCalls)
      : undefined;
    return this.#run("output", { kind: "output", chars: output.length }, request, async (options, stop) => {
      // An answer that consists of tool calls has no text to judge.
      const scanners = calling && output === "" ? [] : scannerReplacer(request)(this.#named.output);
      const result = await scanText(scanners, output, context, { stop, ...options, scope: "output" });
      if (!calling || (options.failFast && !isValid(result))) return textReport(result, output, options);
      const calls = await this.#toolCalls(calling, { ...options, signal: stop.signal }, request.caller);
      const merged = mergeResults([result, calls.result]);
      return Object.assign(
        { text: result.text, edits: editsOf(result, output, options), sanitizedToolCalls: calls.sanitizedToolCalls },
        reportOf(merged, result.engineTiming),
      );
    });
  }

  /**
   * Scans a model's output while it arrives, with the arguments of {@link output}. Each step rejects with the same errors as
   * {@link output}. After an error, discard the stream. The report has no text, because the steps have released it.
   *
   * A stream occupies a slot from its first step until it ends, even while it waits for the model. If the caller does not end it, the
   * signal must be aborted. The time limit applies to each step, and not to the time between steps.
   */
  outputStream(prompt: string, request: ScanRequest, conversation?: ChatRequest): AnswerStream<ServiceReport> {
    let opened: { slot: StreamSlot; scan: AnswerStream<StreamReport> } | undefined;
    const step = async (
      chars: number,
      take: (scan: AnswerStream<StreamReport>) => Promise<StreamStep<StreamReport>>,
    ): Promise<StreamStep<ServiceReport>> => {
      opened ??= this.#openStream(prompt, request, conversation, stream);
      const { slot, scan } = opened;
      const { text, report } = await slot.step(chars, () => take(scan));
      if (!report) return { text };
      slot.end(new GuardError("GUARD_CLOSED", "The answer has ended."));
      return { text, report: await this.#reviewed(Object.assign(report, { text: "" }), request) };
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

  #openStream(
    prompt: string,
    request: ScanRequest,
    conversation: ChatRequest | undefined,
    stream: AnswerStream<ServiceReport>,
  ): { slot: StreamSlot; scan: AnswerStream<StreamReport> } {
    if (conversation) this.#checkSize(conversation);
    if (this.notReady) throw this.notReady;
    const { caller, turn = caller, stop, signal = stop?.signal } = request;
    const timeout = this.#options.outputTimeout;
    const slot = this.#slots.stream({ kind: `${this.#costKey}stream`, caller: turn, signal, timeout });
    // The registered value must not refer to the stream, or it would never be collected.
    this.#forgotten.register(stream, slot);
    const scan = createAnswerScan({
      ...this.#options.stream,
      named: scannerReplacer(request)(this.#named.output),
      context: { prompt, source: "assistant", ...conversationContext(conversation) },
      options: { ...this.#runOptions(request, slot), signal: slot.signal },
      decide: (report) => {
        if (request.unknownFields) report.coverage.unknownFields = [...request.unknownFields];
        return decide(report, "output", this.#policy);
      },
    });
    return { slot, scan };
  }

  /** Judges the tool calls of the last message of a conversation, and restores values in their arguments. */
  async #toolCalls(
    conversation: Conversation,
    options: CallRunOptions,
    caller: string | undefined,
  ): Promise<{ result: ScanResult; sanitizedToolCalls: AnsweredToolCall[] }> {
    const none = Object.fromEntries(SCAN_GROUPS.map((group) => [group, []])) as unknown as Record<ScanGroup, []>;
    const off = new Set(SCAN_GROUPS.filter((group) => group !== "tool_call" || this.#conversation.off.has(group)));
    const lists = { ...none, window: [], tool_call: this.#conversation.tool_call, off };
    const verdicts = this.#verdicts.forCaller(caller);
    const result = await scanTexts(lists, conversation, { ...options, verdicts });
    const judged = readConversation({ messages: result.sanitized.messages.slice(-1) });
    const restored = new Map<MessageText, string[]>();
    for (const text of options.rewrite && this.restores ? judged.texts : []) {
      const strings: string[] = [];
      for (const string of stringsOf(text)) {
        strings.push((await scanText(this.#restoring, string, {}, options)).text);
      }
      restored.set(text, strings);
    }
    const [message] = judged.rewrite(restored).messages;
    return { result, sanitizedToolCalls: message?.tool_calls as AnsweredToolCall[] };
  }

  /** Scans a conversation with the input scanners; see {@link scanConversation}. */
  async conversation(given: ChatRequest, { fields, ...request }: ScanRequest): Promise<ServiceReport> {
    const chat = fields ? Object.assign({}, given, { fields: { ...given.fields, ...fields } }) : given;
    this.#checkSize(chat);
    const texts = await readConversationInSlices(chat, request.stop?.signal ?? request.signal);
    // One message may contain any number of tool results, and each of them is a text.
    this.#checkSize({ messages: texts.texts });
    const chars = lengthOf(texts.texts.map(({ text }) => text));
    return this.#run("input", { kind: "conversation", chars }, request, async (options, { signal }) => {
      const { sanitizedPrompt, sanitized, engineTiming, ...result } = await scanTexts(
        replaceScanners(request, this.#conversation),
        texts,
        {
          signal,
          window: this.#options.conversation.window,
          verdicts: this.#verdicts.forCaller(request.caller),
          ...(this.#risk ? { risk: this.#risk.forCaller(request.caller) } : {}),
          ...options,
        },
      );
      return Object.assign({ text: sanitizedPrompt }, sanitizedRequest(sanitized), reportOf(result, engineTiming));
    });
  }

  /**
   * Scans each document alone with the input scanners for its source; see {@link scanDocuments}. All documents together are one scan, with
   * the time limit of a prompt.
   *
   * @param source where the documents come from.
   */
  async documents(
    texts: readonly string[],
    request: ScanRequest,
    { maskInjections = false, source = "tool" }: Pick<DocumentsOptions, "maskInjections" | "source"> = {},
  ): Promise<ServiceReport> {
    this.checkCount(texts, "documents");
    const scanners = scannerReplacer(request)(this.#conversation[source]);
    return this.#run("input", { kind: "documents", chars: lengthOf(texts) }, request, async (options, { signal }) => {
      const given = Object.assign({ signal, maskInjections, source }, options);
      const { documents, engineTiming } = await scanNamedDocuments(scanners, texts, given);
      if (scanners.length === 0) {
        for (const { coverage } of documents) coverage.unscannedSources[source] = coverage.chars;
      }
      const hasText = options.rewrite || maskInjections;
      const reports = documents.map((document) => this.#documentReport(document, hasText));
      const total = reportOf(mergeResults(documents), engineTiming);
      // The decision about all documents adds those that are held for a review.
      const isAllValid = reports.every((document) => document.isValid || this.#isHeld(document));
      // Findings are reported with their documents, not in the total.
      const checks = total.checks.map((check) => Object.assign({}, check, { findings: [] }));
      return Object.assign(total, { text: "", documents: reports, isValid: isAllValid, checks, findings: {} });
    });
  }

  #documentReport(result: DocumentResult, hasText: boolean): ServiceDocument {
    const isUsable = (part: Pick<ScanReport, "isValid" | "coverage">, { checks }: ScanResult) =>
      part.isValid && this.#isCovered(part) && !this.#isHeld({ checks });
    const { sanitizedText, edits, masked, ...document } = documentReport(result);
    return {
      ...document,
      isValid: isUsable(document, result),
      edits: hasText ? edits : [],
      ...(hasText ? { sanitizedText } : {}),
      ...(masked && result.masked ? { masked: { ...masked, isValid: isUsable(masked, result.masked.result) } } : {}),
    };
  }

  /** Whether the coverage of a text suffices. */
  #isCovered(part: Pick<ScanReport, "coverage">): boolean {
    const { requireFullCoverage } = this.#options;
    return !requireFullCoverage || !enforcesSettings(this.#options) || unscannedReasons(part).length === 0;
  }

  /** Whether a text that passed waits for the review of a person. */
  #isHeld({ checks }: Pick<ScanResult, "checks">): boolean {
    return this.#policy.review === "hold" && !checks.some(fails) && checks.some(isInReview);
  }

  /**
   * Checks that a call has at most {@link ScanServiceOptions.maxMessages} texts.
   *
   * @param what a noun for the texts, for the error.
   * @throws GuardError `GUARD_TOO_LARGE`.
   */
  checkCount(texts: readonly unknown[], what: string): void {
    const { maxMessages } = this.#options;
    if (texts.length <= maxMessages) return;
    throw new GuardError("GUARD_TOO_LARGE", `A call may have at most ${maxMessages} ${what} (app.max_messages).`);
  }

  /**
   * Refuses a call before its body is read, if the queue is too long for it.
   *
   * @param chars the number of characters of the texts, if it is known.
   * @param turn the key for fair queueing; see {@link ScanRequest.turn}.
   * @throws GuardError `GUARD_OVERLOADED`.
   */
  refuseUnread(kind: ScanKind, chars: number, turn: string | undefined): void {
    const timeout = this.#timeout(kind) / 1000;
    this.admission.assertAdmissible({ kind: this.#costKey + kind, chars, caller: turn, timeout });
  }

  #checkSize({ messages }: { messages: readonly unknown[] }): void {
    const { maxMessages } = this.#options;
    // A value that is not a list has no length. The scan refuses it later.
    if (!(messages?.length > maxMessages)) return;
    throw new GuardError(
      "GUARD_TOO_LARGE",
      `A conversation may have at most ${maxMessages} messages (app.max_messages).`,
    );
  }

  /** Runs a scan once it is admitted, and decides about its texts. */
  async #run(
    side: Side,
    { kind, chars }: { kind: ScanKind; chars: number },
    request: ScanRequest,
    scan: (options: CallRunOptions, stop: LazyAbortController) => Promise<UndecidedReport>,
  ): Promise<ServiceReport> {
    if (this.notReady) throw this.notReady;
    const { caller, turn = caller, signal, stop } = request;
    const report = await this.#slots.run(
      { kind: this.#costKey + kind, chars, caller: turn, signal, stop, timeout: this.#timeout(kind) },
      async (slot) => {
        const options = this.#runOptions(request, slot);
        const report = await scan(options, slot.stop);
        return request.fields ? this.#withFields(report, request, { ...options, signal: slot.stop.signal }) : report;
      },
    );
    if (request.unknownFields) report.coverage.unknownFields = [...request.unknownFields];
    const { outcome } = report;
    const decided =
      outcome === undefined
        ? Object.assign(report, decide(report, side, this.#policy))
        : Object.assign(report, { outcome });
    return this.#reviewed(decided, request);
  }

  /** Asks for the reviews of a report, if somebody keeps them. */
  async #reviewed(report: ServiceReport, { credential }: ScanRequest): Promise<ServiceReport> {
    return this.#reviewDesk ? requestReviews(report, this.#reviewDesk, credential) : report;
  }

  /** Adds the checks of other request fields to a report. */
  async #withFields(
    report: UndecidedReport,
    { fields, ...request }: ScanRequest,
    options: CallRunOptions,
  ): Promise<UndecidedReport> {
    const conversation = await readConversationInSlices({ messages: [], fields }, options.signal);
    this.#checkSize({ messages: conversation.texts });
    const verdicts = this.#verdicts.forCaller(request.caller);
    const lists = replaceScanners(request, this.#conversation);
    const { sanitized, engineTiming, ...result } = await scanTexts(lists, conversation, { ...options, verdicts });
    const { suppressed, ...coverage } = report.coverage;
    const merged = reportOf(mergeResults([{ checks: report.checks, suppressed: [], coverage }, result]), {
      ...report.engineTiming,
      ...engineTiming,
    });
    merged.coverage.suppressed = [...new Set([...suppressed, ...merged.coverage.suppressed])];
    const isValid = report.isValid && merged.isValid;
    return Object.assign({}, report, merged, { isValid, sanitizedFields: sanitized.fields ?? {} });
  }

  #timeout(kind: ScanKind): number {
    return kind === "output" ? this.#options.outputTimeout : this.#options.promptTimeout;
  }

  #runOptions(request: ScanRequest, { onWork }: Pick<ScanSlot, "onWork">): CallRunOptions {
    const { suppress, offsets, rewrite, vault, observer, credential, runAll = false } = request;
    const { onScannerError, mode } = this.#options;
    const exceptions = this.exceptions?.isEmpty ? undefined : this.exceptions;
    const failFast = this.#options.failFast && !runAll;
    const own = { failFast, onScannerError, exceptions, mode };
    const options = { suppress, rewrite, vault, offsets, onWork, credential, ...own };
    return observer ? Object.assign(options, { observer }) : options;
  }
}

/** Repeats a scan of the same texts with the scanners of another service. */
export type Rescan = (service: ScanService, request: ScanRequest) => Promise<ServiceReport>;

function textReport(result: TextResult, original: string, options: CallRunOptions): UndecidedReport {
  const edits = editsOf(result, original, options);
  return Object.assign({ text: result.text, edits }, reportOf(result, result.engineTiming));
}

/** Returns the edits of a text in the caller's unit of offsets. */
function editsOf({ edits }: TextResult, original: string, { offsets = "utf16" }: CallRunOptions): Edit[] {
  return new Locator(original, undefined, offsets).located(edits);
}

/** Creates an admission control with the limits of a service. */
export function admissionOf(
  { maxScans, maxQueueTime = Number.POSITIVE_INFINITY }: ScanServiceOptions,
  machine?: Machine,
): Admission {
  return new Admission({ maxScans, maxQueueTime: maxQueueTime / 1000 }, machine);
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** Returns the conversation with a last message that contains the tool calls. */
function withToolCalls({ messages, tools, system }: ChatRequest, toolCalls: readonly AnsweredToolCall[]): Conversation {
  const message = { role: "assistant", content: null, tool_calls: toolCalls };
  return readConversation({ messages: [...messages, message], tools, system });
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
    const message = "needs a scanner in input_scanners that returns the probability of an attack";
    throw new GuardValidationError([{ path: "conversation.risk.enabled", message }]);
  }
  return ConversationRisk.fromScanner(scanner as DetectingScanner, options);
}
