import { Problem } from "../../http-server/problem.ts";
import { sseText } from "../../support/sse.ts";

/** The format of events: JSON lines, or server-sent events (WHATWG HTML, section 9.2). */
export interface EventFormat {
  mediaType: string;
  /** Sent at once, so that the client gets the status before the first event. Parsers ignore it. */
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
 * Chooses the first supported format of an Accept header. Wildcards mean JSON lines.
 *
 * @throws Problem 406 if the client accepts neither.
 */
export function formatFor(accept = "*/*"): EventFormat {
  for (const entry of accept.split(",")) {
    const [type = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    if (parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) continue;
    const format = FORMATS[["*/*", "application/*"].includes(type) ? NDJSON : type === "text/*" ? SSE : type];
    if (format) return format;
  }
  throw new Problem(406, `The response is ${NDJSON} or ${SSE}.`);
}
