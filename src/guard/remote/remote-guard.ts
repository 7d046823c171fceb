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
import { GuardServerClient } from "./guard-server-client.ts";
import { RemoteAnswerStream } from "./remote-answer-stream.ts";
import { type RemoteGuardOptions, resolveRemoteOptions } from "./remote-options.ts";
import { unreachableError } from "./server-errors.ts";

/**
 * Guards calls of models with the scanners of a guard server. This process loads no model and no addon.
 *
 * If the server is unreachable, refuses or sends an invalid reply, the check rejects with a GuardError: `GUARD_UNREACHABLE`,
 * `GUARD_OVERLOADED`, `GUARD_TIMEOUT`, `GUARD_TOO_LARGE`, or `GUARD_VALIDATION` for a request that the server cannot read. The text never
 * passes then. No error quotes a text.
 */
export class RemoteGuard implements Guard {
  readonly #server: GuardServerClient;

  /** @throws GuardValidationError with the path of every invalid option. */
  constructor(options: RemoteGuardOptions) {
    this.#server = new GuardServerClient(resolveRemoteOptions(options));
  }

  call(options: CallOptions = {}): GuardedCall {
    return new RemoteCall(this.#server, options);
  }

  /** Aborts running checks and refuses new ones. The connections belong to `fetch`, which closes them when they are idle. */
  async close(): Promise<void> {
    this.#server.close();
  }
}

class RemoteCall implements GuardedCall {
  readonly #server: GuardServerClient;
  readonly #options: CallOptions;
  /** The vault of this call, sealed by the server. */
  #vault: string | undefined;
  /** The request that the model received. */
  #sent: { prompt: string; chat?: ChatRequest } = { prompt: "" };
  /** The latest check that may change the vault. */
  #vaultUpdate: Promise<unknown> = Promise.resolve();

  constructor(server: GuardServerClient, options: CallOptions) {
    this.#server = server;
    this.#options = options;
  }

  request(chat: ChatRequest): Promise<CheckedRequest> {
    return this.#inOrder(async () => {
      const { messages, tools, system, fields } = chat;
      const body = { messages, tools, system, fields, ...this.#commonFields() };
      const { conversationReply, toReport } = await import("./reply-schemas.ts");
      const reply = await this.#server.post("analyze/conversation", body, conversationReply, this.#options.signal);
      assertSameLength("sanitized_messages", reply.sanitized_messages, messages);
      if (tools) assertSameLength("sanitized_tools", reply.sanitized_tools, tools);
      if (system) assertSameShape("sanitized_system", reply.sanitized_system, system);
      if (fields) assertSameFields(reply.sanitized_fields, fields);
      this.#vault = reply.vault ?? this.#vault;
      const request: ChatRequest = {
        messages: reply.sanitized_messages as Message[],
        ...("tools" in chat ? { tools: reply.sanitized_tools ?? tools } : {}),
        ...("system" in chat ? { system: reply.sanitized_system ?? system } : {}),
        ...("fields" in chat ? { fields: reply.sanitized_fields ?? fields } : {}),
      };
      this.#sent = { prompt: reply.sanitized_prompt, chat: request };
      return { report: toReport(reply), request };
    });
  }

  texts(texts: readonly string[], source: Source = "user"): Promise<CheckedTexts> {
    return this.#inOrder(async () => {
      const body = { documents: texts, source, ...this.#commonFields() };
      const { documentsReply, toDocumentsReport } = await import("./reply-schemas.ts");
      const reply = await this.#server.post("analyze/documents", body, documentsReply, this.#options.signal);
      assertSameLength("documents", reply.documents, texts);
      this.#vault = reply.vault ?? this.#vault;
      const sanitized = reply.documents.map(({ sanitized_text }) => sanitized_text);
      if (texts.length === 1) this.#sent = { prompt: sanitized[0] ?? "" };
      return { report: toDocumentsReport(reply), texts: sanitized };
    });
  }

  async answer({ text, toolCalls }: ModelAnswer): Promise<CheckedAnswer> {
    const body = { ...this.#requestFields(), output: text, tool_calls: toolCalls, ...this.#commonFields() };
    const { outputReply, toReport } = await import("./reply-schemas.ts");
    const reply = await this.#server.post("analyze/output", body, outputReply, this.#options.signal);
    // A blocked answer may lack tool calls, because its scan stopped early.
    if (toolCalls?.length && reply.outcome !== "blocked") {
      assertSameLength("sanitized_tool_calls", reply.sanitized_tool_calls, toolCalls);
    }
    const calls = (reply.sanitized_tool_calls as AnsweredToolCall[] | undefined) ?? [...(toolCalls ?? [])];
    return { report: toReport(reply), text: reply.sanitized_output, edits: reply.edits, toolCalls: calls };
  }

  answerStream(): AnswerStream<GuardReport> {
    const start = async () => {
      await this.#vaultUpdate;
      return { ...this.#requestFields(), ...this.#commonFields() };
    };
    return new RemoteAnswerStream(this.#server, start, this.#options.signal);
  }

  /** The fields of every body. */
  #commonFields(): Record<string, unknown> {
    return { vault: this.#vault, scanners_suppress: this.#options.suppress, details: true, offsets: "utf16" };
  }

  /** The fields with the request that an answer belongs to. */
  #requestFields(): Record<string, unknown> {
    const { prompt, chat } = this.#sent;
    return {
      prompt,
      ...(chat ? { messages: chat.messages, tools: chat.tools, system: chat.system, fields: chat.fields } : {}),
    };
  }

  /** Runs a check after the previous ones, because each needs the vault of the one before it. */
  #inOrder<Checked>(check: () => Promise<Checked>): Promise<Checked> {
    const checked = this.#vaultUpdate.then(check);
    this.#vaultUpdate = checked.catch(() => {});
    return checked;
  }
}

/** @throws GuardError if a reply has fewer or more items than the request. */
function assertSameLength(field: string, replied: readonly unknown[] | undefined, asked: readonly unknown[]): void {
  if (replied?.length !== asked.length) throw invalidReply(field);
}

function assertSameShape(
  field: string,
  replied: string | readonly ContentPart[] | undefined,
  asked: typeof replied,
): void {
  if (typeof replied === "string" ? typeof asked === "string" : replied?.length === asked?.length) return;
  throw invalidReply(field);
}

/** @throws GuardError if a reply lacks a field of the request. Without the field, the model would answer another request. */
function assertSameFields(replied: ChatRequest["fields"], asked: NonNullable<ChatRequest["fields"]>): void {
  const sent = Object.keys(asked).filter((name) => asked[name] !== undefined);
  if (!replied || sent.some((name) => !Object.hasOwn(replied, name))) throw invalidReply("sanitized_fields");
}

function invalidReply(field: string) {
  return unreachableError(`sent an invalid reply: ${field}`);
}
