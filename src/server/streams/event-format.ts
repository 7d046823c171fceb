import { Problem } from "../../http-server/problem.ts";
import { sseText } from "../../support/sse.ts";

/** How events are written: as lines of JSON, or as server-sent events (WHATWG HTML, section 9.2). */
export interface EventFormat {
  mediaType: string;
  /** What is sent at once, so that the client has the status before the first event. Readers skip it. */
  opening: string;
  write(event: string, data: object): string;
}

export const NDJSON = "application/x-ndjson";
export const SSE = "text/event-stream";

const FORMATS: Record<string, EventFormat> = {
  [NDJSON]: {
    mediaType: NDJSON,
    opening: "\n",
    write: (event, data) => `${JSON.stringify({ event, ...data })}\n`,
  },
  [SSE]: {
    mediaType: SSE,
    opening: sseText({}),
    write: (event, data) => sseText({ event, data: JSON.stringify(data) }),
  },
};

/**
 * Chooses the format that a client names first.
 *
 * @param accept the header of the request. Whoever takes anything gets lines of JSON.
 * @throws Problem 406 when the client takes neither.
 */
export function formatFor(accept = "*/*"): EventFormat {
  for (const entry of accept.split(",")) {
    const [type = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    if (parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) continue;
    const format = FORMATS[["*/*", "application/*"].includes(type) ? NDJSON : type === "text/*" ? SSE : type];
    if (format) return format;
  }
  throw new Problem(406, `The answer is ${NDJSON} or ${SSE}.`);
}
