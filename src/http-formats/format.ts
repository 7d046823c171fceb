import type { GuardedCall } from "../guard/guard.ts";
import type { AnsweredToolCall } from "../messages/conversation.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import type { Source } from "../scan/source.ts";
import type { Channels } from "./channels.ts";
import type { WireError } from "./errors.ts";
import type { SseEvent } from "./sse.ts";

/** A JSON object as it was parsed. Formats change it in place, since nobody else holds it. */
export type Json = Record<string, unknown>;

/** A text of a body, and the way to put another one into its place. */
export interface TextSlot {
  readonly text: string;
  set(text: string): void;
}

/** A tool call of an answer, and the way to put other arguments into it. */
export interface CallSlot {
  readonly call: AnsweredToolCall;
  set(args: string): void;
}

/** Texts of a request that are judged each by itself. */
export interface TextsOfRequest {
  source: Source;
  slots: readonly TextSlot[];
}

/** What guard reads of the body of a request. */
export interface RequestParts {
  /** Texts beside the chat, or all texts where the format has no chat. They are judged first; the last group is the prompt. */
  texts?: readonly TextsOfRequest[];
  chat?: {
    request: ChatRequest;
    /** Puts the chat into the body as it may be sent. */
    set(request: ChatRequest): void;
  };
}

/** A part of an answer that is judged by itself, such as a choice. */
export interface AnswerPart {
  /** The texts in the order in which they are shown. */
  texts: readonly TextSlot[];
  /** What stands between the texts when they are shown. The default is nothing. */
  separator?: string;
  calls?: readonly CallSlot[];
}

/** Guards the events of an answer that arrives as a stream of server-sent events. */
export interface StreamGuard {
  /** The texts that arrive. */
  readonly channels: Channels;
  /** Takes the next event, and gives the events that may be sent on. */
  take(event: SseEvent): Promise<readonly SseEvent[]>;
  /** Gives the rest, when upstream sends no more events. */
  finish(): Promise<readonly SseEvent[]>;
  /** The events that end the answer with a text of the caller, in the place of what was blocked. */
  replace(text: string): readonly SseEvent[];
  /** The events that end the answer with an error. */
  fail(error: WireError): readonly SseEvent[];
}

/** The shape of errors. */
export interface ErrorShape {
  /** The body of a reply. */
  body(error: WireError): Json;
}

/** What answers of a blocked call look like, in a format whose answers are texts. */
export interface BlockedReply {
  /**
   * An answer that says `text`.
   *
   * @param request the body of the request.
   * @param answer the body of the answer that was blocked; undefined when the request was.
   */
  body(text: string, request: Json, answer?: Json): Json;
}

/** One format of requests to models, and of the answers to them. */
export interface Format {
  name: string;
  /** Matches the end of the paths of its URLs. */
  path: RegExp;
  /** Matches the end of the paths under which answers are fetched that were given before. Their requests have no body. */
  stored?: RegExp;
  errors: ErrorShape;
  /**
   * Reads the body of a request. It is absent where the body is a form.
   *
   * @throws GuardValidationError for a body whose texts cannot be read.
   */
  request?(body: Json, options: FormatOptions): RequestParts;
  /**
   * The fields of a request that `request` reads, or that say nothing to the model: its name, numbers, and what the caller notes down. Texts
   * in all other fields are judged too, since servers of models have fields of their own, such as `documents`.
   */
  fields?: ReadonlySet<string>;
  /** The fields of a form that are read. Of the others, {@link fields} names those that say nothing to the model. */
  form?: readonly string[];
  /**
   * Reads the body of an answer. It is absent where answers have no text.
   *
   * @throws GuardError for a body that is no answer of this format.
   */
  answer?(body: Json): readonly AnswerPart[];
  /** Whether answers may also be plain text. */
  plainText?: boolean;
  /** Begins to guard an answer that arrives as events. */
  stream?(call: GuardedCall, request: Json): StreamGuard;
  blocked?: BlockedReply;
}

/** What a format is asked to do with what it cannot read. */
export interface FormatOptions {
  unguarded: "refuse" | "pass";
}
