/** One server-sent event, as the WHATWG HTML standard defines them in section 9.2. */
export interface SseEvent {
  event?: string | undefined;
  id?: string | undefined;
  /** The data. An event without data is written as a comment, which keeps the connection alive. */
  data?: string;
  /**
   * Whether the data is written as it is, without the names of fields. Google's APIs end a stream with an error like this, which their clients
   * raise.
   */
  isBare?: boolean;
}

/** Writes an event. */
export function sseText({ event, id, data, isBare }: SseEvent): string {
  if (data === undefined) return ":\n\n";
  // Google's client for JavaScript reads a bare error as the rest of the stream. After an empty line it would ignore it.
  if (isBare) return data;
  const lines = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...data.split("\n").map((line) => `data: ${line}`),
  ];
  return `${lines.join("\n")}\n\n`;
}
