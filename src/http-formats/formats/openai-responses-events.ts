import type { Json } from "../format.ts";
import { recordAt, recordsAt } from "../slots.ts";
import { jsonEvent, type SseEvent } from "../sse.ts";

/** The fields of events that have a whole text, after its pieces. */
export const WHOLE = ["text", "refusal", "transcript"];

/** The fields of events that have the whole arguments of a call, after their pieces. */
const WHOLE_ARGUMENTS = ["arguments", "input", "code"];

/** A call of a tool that has not ended: its events so far. */
export type Held = { event: SseEvent; data: Json }[];

/** The text of all messages of a response, as some servers add it. */
export function outputText(response: Json): string {
  const parts = recordsAt(response, "output").flatMap((item) => recordsAt(item, "content"));
  return parts.map(({ type, text }) => (type === "output_text" ? text : "")).join("");
}

/** The channel of an event: its item, and the part of it. */
export function keyOf({ output_index = 0, content_index, summary_index }: Json, type: string): string {
  const list = type.includes("summary") ? "summary" : "content";
  return `${output_index}/${list}/${summary_index ?? content_index ?? 0}/`;
}

/** Puts a whole text into the field of an event or part that has one. */
export function putText(holder: Json, text: string): void {
  for (const key of WHOLE) if (typeof holder[key] === "string") holder[key] = text;
  if (Array.isArray(holder.logprobs)) holder.logprobs = [];
}

/** The events of a call that was judged: its arguments come in one piece. */
export function released(held: Held, item: Json): SseEvent[] {
  const key = WHOLE_ARGUMENTS.find((key) => typeof item[key] === "string");
  const args = key === undefined ? undefined : item[key];
  let hasPiece = false;
  return held.flatMap(({ event, data }) => {
    const type = String(data.type);
    if (type.endsWith(".delta")) {
      if (hasPiece) return [];
      hasPiece = true;
      return args === undefined ? [] : [jsonEvent({ ...data, delta: args }, event)];
    }
    if (type.endsWith(".done") && key !== undefined && typeof data[key] === "string") {
      return [jsonEvent({ ...data, [key]: args }, event)];
    }
    const begun = recordAt(data, "item");
    if (begun) {
      // What the call says at its beginning is said by its end, where it was judged.
      const kept = Object.entries(begun).filter(([name]) => name !== key);
      const start = { ...Object.fromEntries(kept), ...(key !== undefined && key in begun && { [key]: "" }) };
      return [jsonEvent({ ...data, item: key === undefined ? { ...item, status: begun.status } : start }, event)];
    }
    return [jsonEvent(data, event)];
  });
}

/** An event that is named after the type of its data. */
export function named(data: Json & { type?: unknown }): SseEvent {
  return jsonEvent(data, { event: String(data.type) });
}

/** A message of an answer that says a text. */
export function messageItem(text: string) {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id: "msg_guard", type: "message", role: "assistant", status: "completed", content };
}

/** A response with the fields that every response has. */
export function responseLike({ model }: Json, answer: Json = {}): Json {
  return {
    id: "resp_guard",
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: "auto",
    tools: [],
    top_p: null,
    ...answer,
  };
}
