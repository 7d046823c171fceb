/** One server-sent event, as the WHATWG HTML standard defines them in section 9.2. */
export interface SseEvent {
  event?: string | undefined;
  id?: string | undefined;
  /** The data. An event without data is written as a comment, which keeps the connection alive. */
  data?: string;
}

/** Writes an event. */
export function sseText({ event, id, data }: SseEvent): string {
  if (data === undefined) return ":\n\n";
  const lines = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...data.split("\n").map((line) => `data: ${line}`),
  ];
  return `${lines.join("\n")}\n\n`;
}
