import type { ReplyError } from "../errors.ts";
import { checkAnswer } from "../exchange-check.ts";
import type { Json } from "../format.ts";
import { parseObject } from "../slots.ts";
import { jsonEvent, type SseEvent } from "../sse.ts";
import { StreamGuard } from "../stream-guard.ts";
import { googleErrors } from "./google-errors.ts";
import {
  clearLogprobs,
  hasExtras,
  readBodyExtras,
  readCandidateExtras,
  readCandidates,
  readPartCalls,
  readPartExtras,
  readParts,
} from "./google-parts.ts";

/**
 * The reason for which a blocked candidate ends. With `SAFETY`, older clients of Google raise an error instead of showing a replacement text.
 *
 * @see https://ai.google.dev/api/generate-content#FinishReason
 */
export const BLOCKED = "PROHIBITED_CONTENT";

/** Guards a stream of Gemini. Texts are held back. Function calls are complete in their event. */
export class GoogleStream extends StreamGuard {
  /** The candidates that have started and not ended. */
  readonly #running = new Set<number>();
  /** The fields of every event, such as the version of the model. */
  #frame: Json = {};

  async take(event: SseEvent): Promise<readonly SseEvent[]> {
    if (event.data === undefined) return [event];
    const chunk = parseObject(event.data);
    const all = readCandidates(chunk);
    if (chunk.error !== undefined && all.length === 0) return [event];
    await checkAnswer(this.call, [readBodyExtras(chunk)]);
    const { candidates: _, usageMetadata: __, promptFeedback: ___, ...frame } = chunk;
    this.#frame = frame;
    this.setKept("chunk", event.data.length);
    const before: SseEvent[] = [];
    const kept: Json[] = [];
    for (const candidate of all) {
      const { events, isEmpty } = await this.#guardCandidate(candidate);
      before.push(...events);
      if (!isEmpty) kept.push(candidate);
    }
    if (all.length === 0) return [jsonEvent(chunk, event)];
    return kept.length === 0 ? before : [...before, jsonEvent({ ...chunk, candidates: kept }, event)];
  }

  finish(): Promise<readonly SseEvent[]> {
    return this.channels.end();
  }

  replace(text: string): readonly SseEvent[] {
    return [
      this.#chunk(
        this.#endedCandidates().map((index, position) => ({
          index,
          content: { role: "model", parts: [{ text: position === 0 ? text : "" }] },
          finishReason: BLOCKED,
        })),
      ),
    ];
  }

  /** Ends the candidates for clients that read no errors in streams, and sends the error as Google does. */
  fail(error: ReplyError): readonly SseEvent[] {
    const finishReason = error.status === googleErrors.blockedStatus ? BLOCKED : "OTHER";
    const candidates = this.#endedCandidates().map((index) => ({ index, finishReason, finishMessage: error.message }));
    return [this.#chunk(candidates), { data: JSON.stringify(googleErrors.body(error)), isBare: true }];
  }

  #endedCandidates(): number[] {
    return this.#running.size > 0 ? [...this.#running] : [0];
  }

  /** Replaces the texts of a candidate by those that may be shown, and returns the events that precede its event. */
  async #guardCandidate(candidate: Json): Promise<{ events: SseEvent[]; isEmpty: boolean }> {
    const index = typeof candidate.index === "number" ? candidate.index : 0;
    const { finishReason } = candidate;
    const isLast = typeof finishReason === "string" && finishReason !== "FINISH_REASON_UNSPECIFIED";
    this.#running.add(index);
    clearLogprobs(candidate);
    const all = readParts(candidate);
    const events: SseEvent[] = [];
    let shown: Json[] = [];
    /** Ends texts. What is shown before them goes into an event of its own. */
    const endTexts = async (kind = "") => {
      const rest = await this.channels.end(`${index}/${kind}`);
      if (rest.length === 0) return;
      if (shown.length > 0) events.push(this.#content(index, shown));
      shown = [];
      events.push(...rest);
    };
    for (const part of all) {
      if (typeof part.text !== "string") await endTexts();
      else if (!part.thought) await endTexts("thought/");
      if (await this.#guardPart(index, part)) shown.push(part);
    }
    await checkAnswer(this.call, readCandidateExtras(candidate));
    if (isLast) {
      await endTexts();
      this.#running.delete(index);
    }
    const isEmpty = !isLast && shown.length === 0 && !hasExtras(candidate);
    if (all.length > 0) {
      candidate.content = { ...(candidate.content as Json), parts: shown.length > 0 ? shown : [{ text: "" }] };
    }
    return { events, isEmpty };
  }

  /** Checks a part, and returns whether something of it may be shown now. */
  async #guardPart(index: number, part: Json): Promise<boolean> {
    const calls = readPartCalls(part);
    const { text } = part;
    if (typeof text === "string") {
      const { thought } = part;
      const kind = thought ? "thought" : "text";
      part.text = await this.channels.push(`${index}/${kind}/`, text, (text) =>
        this.#content(index, [{ text, ...(thought ? { thought } : {}) }]),
      );
    }
    await checkAnswer(this.call, [{ texts: [], calls }, readPartExtras(part)]);
    return part.text !== "" || Object.keys(part).some((key) => key !== "text" && key !== "thought");
  }

  #content(index: number, parts: readonly Json[]): SseEvent {
    return this.#chunk([{ index, content: { role: "model", parts } }]);
  }

  #chunk(candidates: readonly Json[]): SseEvent {
    return jsonEvent({ candidates, ...this.#frame });
  }
}
