import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart, LanguageModelV3ToolCall } from "@ai-sdk/provider";
import { GuardBlockedError } from "../../guard/blocked-error.ts";
import { IDLE, markIdle, openItems } from "../../support/items.ts";
import { type Judge, type JudgedText, shortestWaiting } from "../parts/judge.ts";
import type { GuardedModelOptions } from "../parts/options.ts";
import { FILTERED, judgeCalls, NO_USAGE, withArguments, withoutTokens } from "./answer.ts";

type Part = LanguageModelV3StreamPart;
type Kind = "text" | "reasoning";
type InputStart = Extract<Part, { type: "tool-input-start" }>;
type InputEnd = Extract<Part, { type: "tool-input-end" }>;

/** The id of the text with which a blocked answer ends. */
const BLOCKED_ID = "guard-blocked";

const FAILED: LanguageModelV3FinishReason = { unified: "error", raw: undefined };

/** A text that has begun and not ended. */
interface OpenText {
  kind: Kind;
  id: string;
  judged: JudgedText;
  /** Whether the reader has been told that it began. */
  isShown: boolean;
}

/** A call of a tool that waits for its verdict, with the parts around it. */
class WaitingCall {
  call: LanguageModelV3ToolCall | undefined;
  end: InputEnd | undefined;
  readonly start: InputStart | undefined;

  constructor(start?: InputStart) {
    this.start = start;
  }

  /** The parts for the reader. The arguments come in one piece. */
  parts(call: LanguageModelV3ToolCall): Part[] {
    const { start, end } = this;
    if (!start) return [call];
    const { id } = start;
    return [start, { type: "tool-input-delta", id, delta: call.input }, end ?? { type: "tool-input-end", id }, call];
  }
}

/**
 * Judges an answer that arrives in parts. Texts go on as soon as they may. From the first call of one of the caller's tools on
 * everything waits until the answer has ended, so that no tool runs because of an answer that is blocked in the end.
 */
export class GuardedAnswer {
  readonly #judge: Judge;
  readonly #onBlocked: GuardedModelOptions["onBlocked"];
  readonly #open = new Map<string, OpenText>();
  readonly #calls = new Map<string, WaitingCall>();
  /** What may go on now. */
  #ready: Part[] = [];
  /** What waits for the verdict on the calls, in the order of the answer. */
  #held: (Part | WaitingCall)[] | undefined;
  #isChanged = false;

  constructor(judge: Judge, onBlocked: GuardedModelOptions["onBlocked"]) {
    this.#judge = judge;
    this.#onBlocked = onBlocked;
  }

  /**
   * @param source the parts of the model. It is ended as soon as something is blocked.
   * @param signal that of the call. An answer whose call was aborted ends with an exception, as it does without guard.
   */
  async *parts(source: ReadableStream<Part>, signal: AbortSignal): AsyncGenerator<Part, void, undefined> {
    const waiting = () => shortestWaiting([...this.#open.values()].map(({ judged }) => judged));
    const items = openItems(source);
    const onAbort = () => items.stop(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    for await (const part of markIdle(items, waiting)) {
      const failure = await failureOf(part === IDLE ? this.#flush() : this.#take(part));
      // What was ready before a verdict passed its own.
      yield* this.#ready.splice(0);
      if (!failure) continue;
      if (signal.aborted) throw failure.error;
      yield* this.#failed(failure.error);
      return;
    }
    // The answer broke off, unless it had a finish. What it has said and done so far is judged as a whole answer.
    const failure = await failureOf(this.#finish());
    yield* this.#ready.splice(0);
    if (!failure) return;
    if (signal.aborted) throw failure.error;
    yield* this.#failed(failure.error);
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
        const waiting = new WaitingCall(part);
        this.#calls.set(part.id, waiting);
        if (!part.providerExecuted) this.#hold(waiting);
        return;
      }
      case "tool-input-delta":
        // The call has the arguments once more.
        return;
      case "tool-input-end": {
        const waiting = this.#calls.get(part.id);
        if (waiting) waiting.end = part;
        return;
      }
      case "tool-call":
        return this.#call(part);
      case "raw":
        // It is the answer as the model wrote it.
        return;
      case "finish": {
        await this.#finish();
        const { providerMetadata } = part;
        const isTold = !this.#isChanged || !providerMetadata;
        this.#emit(isTold ? part : { ...part, providerMetadata: withoutTokens(providerMetadata) });
        return;
      }
      default:
        this.#emit(part);
    }
  }

  #begin(kind: Kind, part: Extract<Part, { type: "text-start" | "reasoning-start" }>): void {
    const { id } = part;
    this.#open.set(`${kind} ${id}`, { kind, id, judged: this.#judge.stream(), isShown: !this.#held });
    this.#emit(part);
  }

  async #piece(kind: Kind, part: Extract<Part, { type: "text-delta" | "reasoning-delta" }>): Promise<void> {
    const open = this.#open.get(`${kind} ${part.id}`);
    if (!open) throw new TypeError(`The model sent ${part.type} of a text that has not begun.`);
    const delta = await open.judged.push(part.delta);
    if (delta !== "") this.#emit({ ...part, delta });
  }

  async #flush(): Promise<void> {
    for (const { kind, id, judged } of this.#open.values()) {
      if (judged.waiting === undefined) continue;
      const delta = await judged.flush();
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
    const { kind, id, judged } = open;
    const delta = await judged.end();
    this.#open.delete(key);
    this.#isChanged ||= judged.isChanged;
    if (delta !== "") this.#emit({ type: `${kind}-delta`, id, delta });
  }

  async #call(part: LanguageModelV3ToolCall): Promise<void> {
    const waiting = this.#calls.get(part.toolCallId) ?? new WaitingCall();
    waiting.call = part;
    if (!part.providerExecuted) {
      this.#calls.set(part.toolCallId, waiting);
      this.#hold(waiting);
      return;
    }
    // The provider has run this tool already, so nothing is gained by waiting.
    this.#calls.delete(part.toolCallId);
    const { toolCalls } = await judgeCalls([part], "", this.#judge);
    for (const item of waiting.parts(withArguments(part, toolCalls[0]))) this.#emit(item);
  }

  #hold(waiting: WaitingCall): void {
    this.#held ??= [];
    if (!this.#held.includes(waiting)) this.#held.push(waiting);
  }

  /** Ends the texts, and lets go on what waited. */
  async #finish(): Promise<void> {
    for (const key of [...this.#open.keys()]) await this.#endText(key);
    const held = this.#held ?? [];
    const complete = held.flatMap((item) => (item instanceof WaitingCall ? (item.call ?? []) : []));
    const { toolCalls } = complete.length > 0 ? await judgeCalls(complete, "", this.#judge) : { toolCalls: [] };
    this.#held = undefined;
    for (const item of held) {
      if (!(item instanceof WaitingCall)) this.#emit(item);
      // A call that never came has nothing that could be judged.
      else if (item.call) for (const part of item.parts(withArguments(item.call, toolCalls.shift()))) this.#emit(part);
    }
  }

  /** The end of an answer that was blocked or could not be judged. Texts that have begun end, so that the stream is well formed. */
  *#failed(error: unknown): Generator<Part, void, undefined> {
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

/** The end of a stream that has a text of the user's in the place of the answer. */
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
