import type { Json } from "../format.ts";
import { getRecord, getRecords } from "../slots.ts";
import { jsonEvent, type SseEvent } from "../sse.ts";

/** The fields of a part with the text of an answer, and of events with a complete text, after its pieces. */
export const TEXT_FIELDS = ["text", "refusal", "transcript"];

/** Fields of events with the complete arguments of a call, after their pieces. */
const ARGUMENT_FIELDS = ["arguments", "input", "code"];

/** The events so far of a tool call that has not ended. */
export type HeldEvents = { event: SseEvent; data: Json }[];

/** Joins the text of all messages of a response, which some servers add as `output_text`. */
export function joinOutputText(response: Json): string {
  const parts = getRecords(response, "output").flatMap((item) => getRecords(item, "content"));
  return parts.map(({ type, text }) => (type === "output_text" ? text : "")).join("");
}

/** Returns the channel of an event: its item and part. */
export function channelKey({ output_index = 0, content_index, summary_index }: Json, type: string): string {
  const list = type.includes("summary") ? "summary" : "content";
  return `${output_index}/${list}/${summary_index ?? content_index ?? 0}/`;
}

/** Replaces the complete text of an event or part. */
export function setTexts(holder: Json, text: string): void {
  for (const key of TEXT_FIELDS) if (typeof holder[key] === "string") holder[key] = text;
  if (Array.isArray(holder.logprobs)) holder.logprobs = [];
}

/** Returns the events of a checked call, with its arguments in one piece. */
export function releaseCall(held: HeldEvents, item: Json): SseEvent[] {
  const key = ARGUMENT_FIELDS.find((key) => typeof item[key] === "string");
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
    const begun = getRecord(data, "item");
    if (begun) {
      // The arguments at the start are dropped, because the end has the checked ones.
      const kept = Object.entries(begun).filter(([name]) => name !== key);
      const start = { ...Object.fromEntries(kept), ...(key !== undefined && key in begun && { [key]: "" }) };
      return [jsonEvent({ ...data, item: key === undefined ? { ...item, status: begun.status } : start }, event)];
    }
    return [jsonEvent(data, event)];
  });
}

/** Creates a message of an answer with a text. */
export function createMessageItem(text: string) {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id: "msg_guard", type: "message", role: "assistant", status: "completed", content };
}

/** Creates a response with all required fields. */
export function createResponse({ model }: Json, answer: Json = {}): Json {
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
