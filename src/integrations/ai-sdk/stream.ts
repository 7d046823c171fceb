import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart, LanguageModelV3ToolCall } from "@ai-sdk/provider";
import { GuardBlockedError } from "../../guard/blocked-error.ts";
import { IDLE, markIdle, openItems } from "../../support/items.ts";
import { type ModelCall, type StreamedText, shortestWait } from "../parts/model-call.ts";
import type { GuardedModelOptions } from "../parts/options.ts";
import { checkToolCalls, FILTERED, NO_USAGE, withArguments, withoutLogprobs } from "./answer.ts";

type Part = LanguageModelV3StreamPart;
type Kind = "text" | "reasoning";
type InputStart = Extract<Part, { type: "tool-input-start" }>;
type InputEnd = Extract<Part, { type: "tool-input-end" }>;

/** The id of the text that replaces a blocked answer. */
const BLOCKED_ID = "guard-blocked";

const FAILED: LanguageModelV3FinishReason = { unified: "error", raw: undefined };

/** A text that has started and not ended. */
interface OpenText {
  kind: Kind;
  id: string;
  text: StreamedText;
  /** Whether the reader has received its start. */
  isShown: boolean;
}

/** A tool call that is held back until its check, with the parts of its arguments. */
class HeldCall {
  call: LanguageModelV3ToolCall | undefined;
  end: InputEnd | undefined;
  readonly start: InputStart | undefined;

  constructor(start?: InputStart) {
    this.start = start;
  }

  /** The parts for the reader, with the arguments in one delta. */
  parts(call: LanguageModelV3ToolCall): Part[] {
    const { start, end } = this;
    if (!start) return [call];
    const { id } = start;
    return [start, { type: "tool-input-delta", id, delta: call.input }, end ?? { type: "tool-input-end", id }, call];
  }
}

/**
 * Checks a streamed answer. Texts are released as soon as their checks pass. From the first call of a client-side tool on, all parts are
 * held back until the end of the answer, so that no tool runs for an answer that is blocked later.
 */
export class GuardedAnswer {
  readonly #modelCall: ModelCall;
  readonly #onBlocked: GuardedModelOptions["onBlocked"];
  readonly #open = new Map<string, OpenText>();
  readonly #calls = new Map<string, HeldCall>();
  /** Parts that can be released now. */
  #ready: Part[] = [];
  /** Parts that are held back until the calls are checked, in the order of the answer. */
  #held: (Part | HeldCall)[] | undefined;
  #isChanged = false;

  constructor(call: ModelCall, onBlocked: GuardedModelOptions["onBlocked"]) {
    this.#modelCall = call;
    this.#onBlocked = onBlocked;
  }

  /**
   * @param source the parts of the model. It is closed as soon as something is blocked.
   * @param signal the signal of the call. The answer of an aborted call ends with an exception, as without guard.
   */
  async *parts(source: ReadableStream<Part>, signal: AbortSignal): AsyncGenerator<Part, void, undefined> {
    const waiting = () => shortestWait([...this.#open.values()].map(({ text }) => text));
    const items = openItems(source);
    const onAbort = () => items.stop(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    for await (const part of markIdle(items, waiting)) {
      const failure = await failureOf(part === IDLE ? this.#flush() : this.#take(part));
      // Parts that are ready have passed their own checks.
      yield* this.#ready.splice(0);
      if (!failure) continue;
      if (signal.aborted) throw failure.error;
      yield* this.#endWith(failure.error);
      return;
    }
    // Without a finish part the answer broke off. Its texts and calls are checked like a complete answer.
    const failure = await failureOf(this.#finish());
    yield* this.#ready.splice(0);
    if (!failure) return;
    if (signal.aborted) throw failure.error;
    yield* this.#endWith(failure.error);
  }

  async #take(part: Part): Promise<void> {
    switch (part.type) {
      case "text-start":
        return this.#begin("text", part);
      case "reasoning-start":
        return this.#begin("reasoning", part);
      case "text-delta":
        return this.#piece("text", part);
      case "reasoning-delta":
        return this.#piece("reasoning", part);
      case "text-end":
        return this.#end("text", part);
      case "reasoning-end":
        return this.#end("reasoning", part);
      case "tool-input-start": {
        const held = new HeldCall(part);
        this.#calls.set(part.id, held);
        if (!part.providerExecuted) this.#hold(held);
        return;
      }
      case "tool-input-delta":
        // The tool-call part has the arguments too.
        return;
      case "tool-input-end": {
        const held = this.#calls.get(part.id);
        if (held) held.end = part;
        return;
      }
      case "tool-call":
        return this.#call(part);
      case "raw":
        // The raw answer of the model is not checked.
        return;
      case "finish": {
        await this.#finish();
        const { providerMetadata } = part;
        const isKept = !this.#isChanged || !providerMetadata;
        this.#emit(isKept ? part : { ...part, providerMetadata: withoutLogprobs(providerMetadata) });
        return;
      }
      default:
        this.#emit(part);
    }
  }

  #begin(kind: Kind, part: Extract<Part, { type: "text-start" | "reasoning-start" }>): void {
    const { id } = part;
    this.#open.set(`${kind} ${id}`, { kind, id, text: this.#modelCall.stream(), isShown: !this.#held });
    this.#emit(part);
  }

  async #piece(kind: Kind, part: Extract<Part, { type: "text-delta" | "reasoning-delta" }>): Promise<void> {
    const open = this.#open.get(`${kind} ${part.id}`);
    if (!open) throw new TypeError(`The model sent ${part.type} for a text that has not started.`);
    const delta = await open.text.push(part.delta);
    if (delta !== "") this.#emit({ ...part, delta });
  }

  async #flush(): Promise<void> {
    for (const { kind, id, text } of this.#open.values()) {
      if (text.waiting === undefined) continue;
      const delta = await text.flush();
      if (delta !== "") this.#emit({ type: `${kind}-delta`, id, delta });
    }
  }

  async #end(kind: Kind, part: Extract<Part, { type: "text-end" | "reasoning-end" }>): Promise<void> {
    await this.#endText(`${kind} ${part.id}`);
    this.#emit(part);
  }

  async #endText(key: string): Promise<void> {
    const open = this.#open.get(key);
    if (!open) return;
    const { kind, id, text } = open;
    const delta = await text.end();
    this.#open.delete(key);
    this.#isChanged ||= text.isChanged;
    if (delta !== "") this.#emit({ type: `${kind}-delta`, id, delta });
  }

  async #call(part: LanguageModelV3ToolCall): Promise<void> {
    const held = this.#calls.get(part.toolCallId) ?? new HeldCall();
    held.call = part;
    if (!part.providerExecuted) {
      this.#calls.set(part.toolCallId, held);
      this.#hold(held);
      return;
    }
    // The provider has already run this tool, so its call is not held back.
    this.#calls.delete(part.toolCallId);
    const { toolCalls } = await checkToolCalls([part], "", this.#modelCall);
    for (const item of held.parts(withArguments(part, toolCalls[0]))) this.#emit(item);
  }

  #hold(call: HeldCall): void {
    this.#held ??= [];
    if (!this.#held.includes(call)) this.#held.push(call);
  }

  /** Ends the texts, and releases the parts that were held back. */
  async #finish(): Promise<void> {
    for (const key of [...this.#open.keys()]) await this.#endText(key);
    const held = this.#held ?? [];
    const complete = held.flatMap((item) => (item instanceof HeldCall ? (item.call ?? []) : []));
    const { toolCalls } = complete.length > 0 ? await checkToolCalls(complete, "", this.#modelCall) : { toolCalls: [] };
    this.#held = undefined;
    for (const item of held) {
      if (!(item instanceof HeldCall)) this.#emit(item);
      // A call without its tool-call part is dropped.
      else if (item.call) for (const part of item.parts(withArguments(item.call, toolCalls.shift()))) this.#emit(part);
    }
  }

  /** Ends an answer that is blocked or cannot be checked. Open texts are ended, so that the stream is well formed. */
  *#endWith(error: unknown): Generator<Part, void, undefined> {
    for (const { kind, id, isShown } of this.#open.values()) if (isShown) yield { type: `${kind}-end`, id };
    if (this.#onBlocked && error instanceof GuardBlockedError) {
      yield* textParts(this.#onBlocked(error));
    } else {
      yield { type: "error", error };
      yield { type: "finish", usage: NO_USAGE, finishReason: FAILED };
    }
  }

  #emit(part: Part): void {
    (this.#held ?? this.#ready).push(part);
  }
}

/** The parts of a text that replaces an answer, and the end of the stream. */
export function* textParts(text: string): Generator<Part, void, undefined> {
  yield { type: "text-start", id: BLOCKED_ID };
  yield { type: "text-delta", id: BLOCKED_ID, delta: text };
  yield { type: "text-end", id: BLOCKED_ID };
  yield { type: "finish", usage: NO_USAGE, finishReason: FILTERED };
}

async function failureOf(work: Promise<void>): Promise<{ error: unknown } | undefined> {
  try {
    await work;
    return;
  } catch (error) {
    return { error };
  }
}
