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

/** A scan of a guarded call that has ended. */
export interface EndedScan {
  side: Side;
  report: ServiceReport;
  /** The texts that were scanned, by what they are. An answer that arrived in pieces is not among them. */
  content: Record<string, unknown>;
  /** Scans the same texts with another service. It is absent for an answer that arrived in pieces, because nobody kept it. */
  again?: Rescan;
}

/** What a {@link ServiceGuard} tells others. */
export interface ServiceGuardOptions {
  /** Is told of every scan that has ended. The call waits for it, and rejects with what it rejects with. */
  onScanned?: (scan: EndedScan) => void | Promise<void>;
  /** Is called when the scanners are closed. */
  onClosed?: () => Promise<void>;
}

/** How a call is guarded by the scanners of this process. */
export interface ServiceCallOptions extends CallOptions {
  /** The vault of the call. The default is a new one. */
  vault?: Vault;
  /**
   * With `false` no text is rewritten, and all scanners see the texts as they were given, so that the places of all findings count in
   * these. The default is `true`.
   */
  rewrite?: boolean;
  /** The unit of offsets in reports. The default is `utf16`. */
  offsets?: OffsetUnit;
  /**
   * What the model was sent, or the prompt alone, for answers whose request this call does not judge. Answers are compared with it. The
   * default is an empty prompt.
   */
  sent?: ChatRequest | string;
  /** Is told of the scanners and models of this call. */
  observer?: ScanObserver | undefined;
  /** Who calls; see {@link ScanRequest.caller}. */
  caller?: string | undefined;
  /** Who takes turns with others; see {@link ScanRequest.turn}. */
  turn?: string | undefined;
}

/** Guards calls of models with the scanners of this process. */
export class ServiceGuard implements Guard {
  readonly #service: ScanService;
  readonly #onScanned: NonNullable<ServiceGuardOptions["onScanned"]>;
  readonly #onClosed: () => Promise<void>;

  constructor(service: ScanService, { onScanned = () => {}, onClosed = async () => {} }: ServiceGuardOptions = {}) {
    this.#service = service;
    this.#onScanned = onScanned;
    this.#onClosed = onClosed;
  }

  call(options: ServiceCallOptions = {}): ServiceCall {
    return new ServiceCall(this.#service, options, this.#onScanned);
  }

  async close(): Promise<void> {
    await this.#service.close();
    await this.#onClosed();
  }
}

/** The report of a guard in this process, which has more details than that of a remote guard. */
export interface ServiceGuardReport extends GuardReport {
  /** The probabilities, 0..1, that the thresholds were compared with, by the name of the check; only checks by models have one. */
  probabilities: Record<string, number>;
}

/** What the scanners say of one of several texts. */
export type TextReport = Omit<ServiceGuardReport, "outcome">;

/** A result with the report of the scanners of this process. */
export type Reported<Checked extends { report?: GuardReport }> = Checked & { report: ServiceGuardReport };

/** A call that the scanners of this process guard. */
export class ServiceCall implements GuardedCall {
  readonly vault: Vault;
  readonly #service: ScanService;
  readonly #request: ScanRequest;
  readonly #onScanned: NonNullable<ServiceGuardOptions["onScanned"]>;
  /** What the model was sent. */
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
      observer,
      caller,
      turn,
    }: ServiceCallOptions,
    onScanned: NonNullable<ServiceGuardOptions["onScanned"]>,
  ) {
    this.vault = vault;
    this.#service = service;
    this.#request = { suppress, offsets, rewrite, vault, signal, observer, caller, turn };
    this.#onScanned = onScanned;
    this.#sent =
      typeof sent === "string"
        ? { prompt: sent }
        : { prompt: groupMessages(readConversation(sent)).prompt?.text ?? "", chat: sent };
  }

  async request(chat: ChatRequest): Promise<Reported<CheckedRequest>> {
    const { messages, tools, system } = chat;
    const scan: Rescan = (service, request) => service.conversation(chat, request);
    const report = await this.#scanned("input", { messages, tools, system }, scan);
    const { sanitizedMessages, sanitizedTools, sanitizedSystem } = report;
    const request: ChatRequest = {
      messages: sanitizedMessages ?? chat.messages,
      ...("tools" in chat ? { tools: sanitizedTools ?? chat.tools } : {}),
      ...("system" in chat ? { system: sanitizedSystem ?? chat.system } : {}),
    };
    this.#sent = { prompt: report.text, chat: request };
    return { report: guardReport(report), request };
  }

  async texts(texts: readonly string[], source: Source = "user"): Promise<Reported<CheckedTexts>> {
    const report = await this.#documents(texts, source);
    const sanitized = report.documents?.map(({ sanitizedText }, index) => sanitizedText ?? texts[index] ?? "") ?? [];
    if (texts.length === 1) this.#sent = { prompt: sanitized[0] ?? "" };
    return { report: guardReport(report), texts: sanitized };
  }

  /** Judges texts as {@link texts} does, and says of each of them what was found in it. */
  async textReports(texts: readonly string[], source: Source = "user"): Promise<TextReport[]> {
    const report = await this.#documents(texts, source);
    return (report.documents ?? []).map(textReport);
  }

  async answer({ text, toolCalls }: ModelAnswer): Promise<Reported<CheckedAnswer>> {
    const { prompt, chat } = this.#sent;
    const scan: Rescan = (service, request) => service.output(prompt, text, request, chat, toolCalls);
    const report = await this.#scanned("output", { prompt, output: text, tool_calls: toolCalls }, scan);
    return {
      report: guardReport(report),
      text: report.text,
      edits: report.edits ?? [],
      toolCalls: report.sanitizedToolCalls ?? [...(toolCalls ?? [])],
    };
  }

  /** Judges answers that have nothing to do with each other, one after the other. */
  async answers(texts: readonly string[]): Promise<Reported<CheckedAnswer>[]> {
    this.#service.checkCount(texts, "answers");
    const answers: Reported<CheckedAnswer>[] = [];
    for (const text of texts) answers.push(await this.answer({ text }));
    return answers;
  }

  answerStream(): AnswerStream<GuardReport> {
    const { prompt, chat } = this.#sent;
    const stream = this.#service.outputStream(prompt, this.#request, chat);
    const step = async ({ text, report }: StreamStep<ServiceReport>): Promise<StreamStep<GuardReport>> => {
      if (!report) return { text };
      await this.#onScanned({ side: "output", report, content: { prompt } });
      return { text, report: guardReport(report) };
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
    return this.#scanned("input", { documents }, (service, request) =>
      service.documents(documents, request, { source }),
    );
  }

  async #scanned(side: Side, content: Record<string, unknown>, scan: Rescan): Promise<ServiceReport> {
    const report = await scan(this.#service, this.#request);
    await this.#onScanned({ side, report, content, again: scan });
    return report;
  }
}

function guardReport(report: ServiceReport): ServiceGuardReport {
  const { outcome, atEnd } = report;
  return { outcome, ...textReport(report), ...(atEnd ? { atEnd } : {}) };
}

function textReport(report: TextReport): TextReport {
  const { isValid, checks, resultsScore, probabilities, findings, coverage } = report;
  return { isValid, checks, resultsScore, probabilities, findings, coverage };
}
