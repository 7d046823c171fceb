import type { GuardedCall } from "../guard/guard.ts";
import type { AnsweredToolCall } from "../messages/conversation.ts";
import type { ChatRequest } from "../scan/chat-request.ts";
import type { Source } from "../scan/source.ts";
import type { ReplyError } from "./errors.ts";
import type { StreamGuard } from "./stream-guard.ts";

/** A parsed JSON object. Formats modify it in place, because nothing else refers to it. */
export type Json = Record<string, unknown>;

/** A text of a body that can be replaced. */
export interface TextSlot {
  readonly text: string;
  set(text: string): void;
}

/** A tool call of an answer whose arguments can be replaced. */
export interface CallSlot {
  readonly call: AnsweredToolCall;
  set(args: string): void;
}

/** Texts of a request that are checked separately. */
export interface RequestTexts {
  source: Source;
  slots: readonly TextSlot[];
}

/** The parts of a request body that guard checks. */
export interface RequestParts {
  /** The texts of a format without a chat. They are checked after the chat, which has only fields then. The last group is the prompt. */
  texts?: readonly RequestTexts[];
  chat?: {
    request: ChatRequest;
    /** Replaces the chat in the body. */
    set(request: ChatRequest): void;
  };
}

/** A part of an answer that is checked separately, such as a choice. */
export interface AnswerPart {
  /** The texts in display order. */
  texts: readonly TextSlot[];
  /** The separator between the displayed texts. The default is an empty string. */
  separator?: string;
  calls?: readonly CallSlot[];
}

/** The format of error replies. */
export interface ErrorFormat {
  /** The status of replies to blocked calls. */
  blockedStatus: number;
  /** Creates the body of an error reply. */
  body(error: ReplyError): Json;
}

/** The replacement for a blocked call, in a format whose answers are texts. */
export interface BlockedReply {
  /**
   * Creates the body of an answer with the given text.
   *
   * @param request the body of the request.
   * @param answer the body of the blocked answer; undefined if the request was blocked.
   */
  body(text: string, request: Json, answer?: Json): Json;
}

/** A format of requests to models and of their answers. */
export interface Format {
  name: string;
  /** Matches the end of the URL paths of the format. */
  path: RegExp;
  /** Matches the end of the URL paths of stored answers. Their requests have no body. */
  storedPath?: RegExp;
  errors: ErrorFormat;
  /**
   * Returns the object with the fields of the request. Without this function, that is the body.
   *
   * @throws GuardValidationError if there are fields elsewhere too.
   */
  findRequest?(body: Json): Json;
  /**
   * Reads the fields of a request. It is absent if the body is a form.
   *
   * @throws GuardValidationError if the texts cannot be read.
   */
  readRequest?(body: Json, options: FormatOptions): RequestParts;
  /** The fields of a body that `readRequest` reads. All others are read as fields beside a conversation. */
  fields?: ReadonlySet<string>;
  /** The form fields that hold text. Other fields are read if they may contain an instruction. */
  formFields?: readonly string[];
  /**
   * Reads the body of an answer. It is absent if answers have no text.
   *
   * @throws GuardError if the body is not an answer of this format.
   */
  readAnswer?(body: Json): readonly AnswerPart[];
  /** Whether answers may also be plain text. */
  allowsPlainText?: boolean;
  /**
   * Returns the content type of the answer if it is a stream because of its URL: of server-sent events, or of a JSON array of events.
   * Without this function, the body of the request says whether the answer is a stream.
   */
  streamType?(url: URL): string | undefined;
  /** Creates the guard of a streamed answer. */
  guardStream?(call: GuardedCall, request: Json): StreamGuard;
  blockedReply?: BlockedReply;
}

/** The options for reading a request. */
export interface FormatOptions {
  unguarded: "refuse" | "pass";
}
