import { groupMessages } from "../conversation/message-groups.ts";
import { readConversation } from "../messages/read-conversation.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import type { ScanObserver } from "../scan/observer.ts";
import type { Side } from "../scan/scanner.ts";
import type { Source } from "../scan/source.ts";
import { Vault } from "../scan/vault.ts";
import type { Rescan, ScanService } from "../service/service.ts";
import type { ScanRequest, ServiceReport } from "../service/service-types.ts";
import type { AnswerStream, StreamStep } from "../stream/answer-stream.ts";
import type { OffsetUnit } from "../text/offsets.ts";
import type {
  CallOptions,
  CheckedAnswer,
  CheckedRequest,
  CheckedTexts,
  Guard,
  GuardedCall,
  GuardReport,
  ModelAnswer,
} from "./guard.ts";

/** The record of a finished scan of a guarded call. */
export interface ScanRecord {
  side: Side;
  report: ServiceReport;
  /** The scanned texts by name. A streamed answer is not included. */
  content: Record<string, unknown>;
  /** Scans the same texts with another service. It is absent for a streamed answer, which is not kept. */
  rescan?: Rescan;
}

/** The callbacks of a {@link LocalGuard}. */
export interface LocalGuardOptions {
  /** Called after every scan. The call awaits it and rejects if it does. */
  onScan?: (scan: ScanRecord) => void | Promise<void>;
}

/** The options of a call with the scanners of this process. */
export interface LocalCallOptions extends CallOptions {
  /** The vault of the call. The default is a new one. */
  vault?: Vault;
  /**
   * With `false`, no text is rewritten, and all scanners read the original texts. The default is `true`.
   */
  rewrite?: boolean;
  /** The unit of offsets in reports. The default is `utf16`. */
  offsets?: OffsetUnit;
  /**
   * The request that the model received, or its prompt, if this call checks only the answer. Some scanners compare the answer with it. The
   * default is an empty prompt.
   */
  sent?: ChatRequest | string;
  /** Scanners that replace others for this call; see {@link ScanRequest.replacements}. */
  replacements?: ScanRequest["replacements"];
  /** See {@link ScanRequest.runAll}. */
  runAll?: boolean;
  /** Observes the scanners and models of this call. */
  observer?: ScanObserver | undefined;
  /** The caller; see {@link ScanRequest.caller}. */
  caller?: string | undefined;
  /** The key for fair queueing; see {@link ScanRequest.turn}. */
  turn?: string | undefined;
}

/** Guards calls of models with the scanners of this process. */
export class LocalGuard implements Guard {
  readonly #service: ScanService;
  readonly #onScan: NonNullable<LocalGuardOptions["onScan"]>;

  constructor(service: ScanService, { onScan = () => {} }: LocalGuardOptions = {}) {
    this.#service = service;
    this.#onScan = onScan;
  }

  call(options: LocalCallOptions = {}): LocalCall {
    return new LocalCall(this.#service, options, this.#onScan);
  }

  async close(): Promise<void> {
    await this.#service.close();
  }
}

/** The report of a local guard, which has more details than that of a remote guard. */
export interface LocalGuardReport extends GuardReport {
  /** The probabilities, 0..1, that were compared with thresholds, by the name of the check. Only checks with models have one. */
  probabilities: Record<string, number>;
}

/** The report on one of several texts. */
export type TextReport = Omit<LocalGuardReport, "outcome">;

/** A result with the report of a local guard. */
export type WithLocalReport<Checked extends { report?: GuardReport }> = Checked & { report: LocalGuardReport };

/** A call that a local guard checks. */
export class LocalCall implements GuardedCall {
  readonly vault: Vault;
  readonly #service: ScanService;
  readonly #request: ScanRequest;
  readonly #onScan: NonNullable<LocalGuardOptions["onScan"]>;
  /** The request that the model received. */
  #sent: { prompt: string; chat?: ChatRequest };

  constructor(
    service: ScanService,
    {
      signal = new AbortController().signal,
      suppress = [],
      vault = new Vault(),
      rewrite = true,
      offsets = "utf16",
      sent = "",
      replacements,
      runAll,
      observer,
      caller,
      turn,
      credential,
    }: LocalCallOptions,
    onScan: NonNullable<LocalGuardOptions["onScan"]>,
  ) {
    this.vault = vault;
    this.#service = service;
    const given = {
      suppress,
      replacements,
      runAll,
      offsets,
      rewrite,
      vault,
      signal,
      observer,
      caller,
      turn,
      credential,
    };
    this.#request = given;
    this.#onScan = onScan;
    this.#sent =
      typeof sent === "string"
        ? { prompt: sent }
        : { prompt: groupMessages(readConversation(sent)).prompt?.text ?? "", chat: sent };
  }

  async request(chat: ChatRequest): Promise<WithLocalReport<CheckedRequest>> {
    const { messages, tools, system, fields } = chat;
    const scan: Rescan = (service, request) => service.conversation(chat, request);
    const report = await this.#scan("input", { messages, tools, system, fields }, scan);
    const { sanitizedMessages, sanitizedTools, sanitizedSystem, sanitizedFields } = report;
    const request: ChatRequest = {
      messages: sanitizedMessages ?? chat.messages,
      ...("tools" in chat ? { tools: sanitizedTools ?? chat.tools } : {}),
      ...("system" in chat ? { system: sanitizedSystem ?? chat.system } : {}),
      ...("fields" in chat ? { fields: sanitizedFields ?? chat.fields } : {}),
    };
    this.#sent = { prompt: report.text, chat: request };
    return { report: toGuardReport(report), request };
  }

  async texts(texts: readonly string[], source: Source = "user"): Promise<WithLocalReport<CheckedTexts>> {
    const report = await this.#documents(texts, source);
    const sanitized = report.documents?.map(({ sanitizedText }, index) => sanitizedText ?? texts[index] ?? "") ?? [];
    if (texts.length === 1) this.#sent = { prompt: sanitized[0] ?? "" };
    return { report: toGuardReport(report), texts: sanitized };
  }

  /** Checks texts as {@link texts} does, and returns a report on each. */
  async textReports(texts: readonly string[], source: Source = "user"): Promise<TextReport[]> {
    const report = await this.#documents(texts, source);
    return (report.documents ?? []).map(toTextReport);
  }

  async answer({ text, toolCalls }: ModelAnswer): Promise<WithLocalReport<CheckedAnswer>> {
    const { prompt, chat } = this.#sent;
    const scan: Rescan = (service, request) => service.output(prompt, text, request, chat, toolCalls);
    const report = await this.#scan("output", { prompt, output: text, tool_calls: toolCalls }, scan);
    return {
      report: toGuardReport(report),
      text: report.text,
      edits: report.edits ?? [],
      toolCalls: report.sanitizedToolCalls ?? [...(toolCalls ?? [])],
    };
  }

  /** Checks unrelated answers sequentially. */
  async answers(texts: readonly string[]): Promise<WithLocalReport<CheckedAnswer>[]> {
    this.#service.checkCount(texts, "answers");
    const answers: WithLocalReport<CheckedAnswer>[] = [];
    for (const text of texts) answers.push(await this.answer({ text }));
    return answers;
  }

  answerStream(): AnswerStream<GuardReport> {
    const { prompt, chat } = this.#sent;
    const stream = this.#service.outputStream(prompt, this.#request, chat);
    const step = async ({ text, report }: StreamStep<ServiceReport>): Promise<StreamStep<GuardReport>> => {
      if (!report) return { text };
      await this.#onScan({ side: "output", report, content: { prompt } });
      return { text, report: toGuardReport(report) };
    };
    return {
      push: async (piece) => step(await stream.push(piece)),
      flush: async () => step(await stream.flush()),
      end: async () => step(await stream.end()),
      get waiting() {
        return stream.waiting;
      },
    };
  }

  #documents(documents: readonly string[], source: Source): Promise<ServiceReport> {
    return this.#scan("input", { documents }, (service, request) => service.documents(documents, request, { source }));
  }

  async #scan(side: Side, content: Record<string, unknown>, scan: Rescan): Promise<ServiceReport> {
    const report = await scan(this.#service, this.#request);
    await this.#onScan({ side, report, content, rescan: scan });
    return report;
  }
}

function toGuardReport(report: ServiceReport): LocalGuardReport {
  const { outcome, atEnd, reviews, wouldBlock, wouldMask } = report;
  return {
    outcome,
    ...toTextReport(report),
    ...(wouldBlock ? { wouldBlock } : {}),
    ...(wouldMask ? { wouldMask } : {}),
    ...(reviews ? { reviews } : {}),
    ...(atEnd ? { atEnd } : {}),
  };
}

function toTextReport(report: TextReport): TextReport {
  const { isValid, checks, resultsScore, probabilities, findings, coverage } = report;
  return { isValid, checks, resultsScore, probabilities, findings, coverage };
}
