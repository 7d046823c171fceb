import type { AnsweredToolCall } from "../../messages/conversation.ts";
import type { ChatRequest, ContentPart, Message } from "../../scan/chat-request.ts";
import type { Source } from "../../scan/source.ts";
import type { AnswerStream } from "../../stream/answer-stream.ts";
import type {
  CallOptions,
  CheckedAnswer,
  CheckedRequest,
  CheckedTexts,
  Guard,
  GuardedCall,
  GuardReport,
  ModelAnswer,
} from "../guard.ts";
import { RemoteAnswerStream } from "./answer-stream.ts";
import { unreachable } from "./errors.ts";
import { GuardServer } from "./guard-server.ts";
import { checkRemoteOptions, type RemoteGuardOptions } from "./options.ts";

/**
 * Guards calls of models with the scanners of a guard server. This process loads no model and no addon.
 *
 * A server that is away, refuses, or replies what makes no sense means that a check rejects with a GuardError: `GUARD_UNREACHABLE`,
 * `GUARD_OVERLOADED`, `GUARD_TIMEOUT`, `GUARD_TOO_LARGE`, or `GUARD_VALIDATION` for what the server cannot read. It never means a
 * pass. No error quotes a text.
 */
export class RemoteGuard implements Guard {
  readonly #server: GuardServer;

  /** @throws GuardValidationError with the path of every option at fault. */
  constructor(options: RemoteGuardOptions) {
    this.#server = new GuardServer(checkRemoteOptions(options));
  }

  call(options: CallOptions = {}): GuardedCall {
    return new RemoteCall(this.#server, options);
  }

  /** Ends the checks under way, and refuses further ones. The connections belong to `fetch`, which closes them when they are idle. */
  async close(): Promise<void> {
    this.#server.close();
  }
}

class RemoteCall implements GuardedCall {
  readonly #server: GuardServer;
  readonly #options: CallOptions;
  /** What was replaced in this call so far, sealed by the server. */
  #vault: string | undefined;
  /** What the model was sent. */
  #sent: { prompt: string; chat?: ChatRequest } = { prompt: "" };
  /** The latest check that may add to the vault. */
  #adding: Promise<unknown> = Promise.resolve();

  constructor(server: GuardServer, options: CallOptions) {
    this.#server = server;
    this.#options = options;
  }

  request(chat: ChatRequest): Promise<CheckedRequest> {
    return this.#afterOthers(async () => {
      const { messages, tools, system } = chat;
      const body = { messages, tools, system, ...this.#common() };
      const { conversationReply, reportOf } = await import("./replies.ts");
      const reply = await this.#server.post("analyze/conversation", body, conversationReply, this.#options.signal);
      expectAsMany("sanitized_messages", reply.sanitized_messages, messages);
      if (tools) expectAsMany("sanitized_tools", reply.sanitized_tools, tools);
      if (system) expectSame("sanitized_system", reply.sanitized_system, system);
      this.#vault = reply.vault ?? this.#vault;
      const request: ChatRequest = {
        messages: reply.sanitized_messages as Message[],
        ...("tools" in chat ? { tools: reply.sanitized_tools ?? tools } : {}),
        ...("system" in chat ? { system: reply.sanitized_system ?? system } : {}),
      };
      this.#sent = { prompt: reply.sanitized_prompt, chat: request };
      return { report: reportOf(reply), request };
    });
  }

  texts(texts: readonly string[], source: Source = "user"): Promise<CheckedTexts> {
    return this.#afterOthers(async () => {
      const body = { documents: texts, source, ...this.#common() };
      const { documentsReply, documentsReportOf } = await import("./replies.ts");
      const reply = await this.#server.post("analyze/documents", body, documentsReply, this.#options.signal);
      expectAsMany("documents", reply.documents, texts);
      this.#vault = reply.vault ?? this.#vault;
      const sanitized = reply.documents.map(({ sanitized_text }) => sanitized_text);
      if (texts.length === 1) this.#sent = { prompt: sanitized[0] ?? "" };
      return { report: documentsReportOf(reply), texts: sanitized };
    });
  }

  async answer({ text, toolCalls }: ModelAnswer): Promise<CheckedAnswer> {
    const body = { ...this.#answered(), output: text, tool_calls: toolCalls, ...this.#common() };
    const { outputReply, reportOf } = await import("./replies.ts");
    const reply = await this.#server.post("analyze/output", body, outputReply, this.#options.signal);
    // A scan that stopped early has looked at no tool calls, and is blocked.
    if (toolCalls?.length && reply.outcome !== "blocked") {
      expectAsMany("sanitized_tool_calls", reply.sanitized_tool_calls, toolCalls);
    }
    const calls = (reply.sanitized_tool_calls as AnsweredToolCall[] | undefined) ?? [...(toolCalls ?? [])];
    return { report: reportOf(reply), text: reply.sanitized_output, edits: reply.edits, toolCalls: calls };
  }

  answerStream(): AnswerStream<GuardReport> {
    const start = async () => {
      await this.#adding;
      return { ...this.#answered(), ...this.#common() };
    };
    return new RemoteAnswerStream(this.#server, start, this.#options.signal);
  }

  /** The fields of every body. */
  #common(): Record<string, unknown> {
    return { vault: this.#vault, scanners_suppress: this.#options.suppress, details: true, offsets: "utf16" };
  }

  /** The fields that say what an answer answers. */
  #answered(): Record<string, unknown> {
    const { prompt, chat } = this.#sent;
    return { prompt, ...(chat ? { messages: chat.messages, tools: chat.tools, system: chat.system } : {}) };
  }

  /** Each check that adds to the vault needs the vault of the one before it. */
  #afterOthers<Checked>(check: () => Promise<Checked>): Promise<Checked> {
    const checked = this.#adding.then(check);
    this.#adding = checked.catch(() => {});
    return checked;
  }
}

/** @throws GuardError when a reply has fewer or more texts than were asked about. */
function expectAsMany(field: string, replied: readonly unknown[] | undefined, asked: readonly unknown[]): void {
  if (replied?.length !== asked.length) throw nonsense(field);
}

function expectSame(field: string, replied: string | readonly ContentPart[] | undefined, asked: typeof replied): void {
  if (typeof replied === "string" ? typeof asked === "string" : replied?.length === asked?.length) return;
  throw nonsense(field);
}

function nonsense(field: string) {
  return unreachable(`sent a reply that makes no sense: ${field}`);
}
