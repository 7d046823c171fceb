import { setMaxListeners } from "node:events";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { Problem, problemBody } from "../../http-server/problem.ts";
import { Vault } from "../../scan/vault.ts";
import { answerOf } from "../../service/json-report.ts";
import type { ServiceReport } from "../../service/service-types.ts";
import { disconnectSignal } from "../../support/disconnect.ts";
import { closedError } from "../../support/errors.ts";
import { callerOf } from "../callers/caller.ts";
import { charactersOf } from "../callers/characters.ts";
import { chatOf } from "../chat.ts";
import { scanProblems } from "../http/problem-replies.ts";
import { problemOf } from "../plugins/errors.ts";
import { assertPlain } from "../plugins/json-body.ts";
import { named } from "../schemas/named.ts";
import { outputStreamExamples, type outputStreamRequest, type outputStreamStart } from "../schemas/output-stream.ts";
import { type AnswerEvent, answerEvents } from "../streams/answer-events.ts";
import { type AnswerLines, linesOf, piecesOf } from "../streams/answer-lines.ts";
import { type EventFormat, formatFor, NDJSON, SSE } from "../streams/event-format.ts";
import { JsonLines, type LineLimits } from "../streams/json-lines.ts";
import type { ScanRoutesOptions } from "./scan-routes.ts";

type Start = z.output<typeof outputStreamStart>;

/** What the routes need besides what all routes need that scan. */
export interface OutputStreamOptions extends Omit<ScanRoutesOptions, "cache"> {
  limits: LineLimits;
  /** The milliseconds that answers under way have when the server closes. */
  graceMs: number;
}

const START = named("OutputStreamStart");
const WHOLE = named("OutputStreamRequest");

/**
 * `POST /analyze/output/stream` and `POST /scan/output/stream`: an answer goes in piece by piece, and what may be shown of it comes out
 * of the same request while it still arrives.
 */
export async function outputStreamRoutes(app: FastifyInstance, options: OutputStreamOptions): Promise<void> {
  const { limits, graceMs } = options;
  const streams = new Set<AbortController>();
  let cut: NodeJS.Timeout | undefined;
  app.addHook("preClose", async () => {
    cut = setTimeout(() => {
      for (const stop of streams) stop.abort(closedError());
    }, graceMs);
  });
  app.addHook("onClose", async () => clearTimeout(cut));

  // The body is read while the answer is written. Only these routes take it.
  app.addContentTypeParser(NDJSON, (request, payload, done) => {
    try {
      assertPlain(request.headers);
      done(null, payload);
    } catch (error) {
      done(error as Error);
    }
  });

  for (const kind of ["analyze", "scan"] as const) {
    app.post(`/${kind}/output/stream`, {
      schema: {
        tags: [kind === "analyze" ? "Analyze" : "Scan"],
        operationId: `${kind}_output_stream`,
        summary:
          kind === "analyze"
            ? "Check an output while it arrives, and sanitize it"
            : "Check an output while it arrives; its text comes back as it was",
        body: {
          content: {
            "application/json": { schema: WHOLE },
            [NDJSON]: { schema: { description: "Lines of JSON: OutputStreamStart, then the pieces of the output." } },
          },
        },
        response: {
          200: {
            description: "Events, while the output arrives",
            content: {
              [NDJSON]: { schema: named("OutputStreamEvent"), example: outputStreamExamples.event },
              [SSE]: {
                schema: { description: "The same events, as server-sent events." },
                example: outputStreamExamples.sse,
              },
            },
          },
        } as Record<number, unknown>,
      },
      config: {
        problems: {
          ...scanProblems,
          408: { description: "No line in time", example: new Problem(408, "No line came for 120 s.") },
          406: {
            description: "No format that the client takes",
            example: new Problem(406, "The answer is text/event-stream."),
          },
        },
        requestExample: outputStreamExamples.request,
        requestLines: outputStreamExamples.lines,
        streams: true,
      },
      handler: async (request, reply) => {
        const format = formatFor(request.headers.accept);
        const { body } = request;
        const read = body instanceof Readable ? new JsonLines(body, limits) : undefined;
        try {
          const take = (count: number) => app.callerLimits.takeCharacters(request, reply, count);
          const start = read ? await startOf(request, read) : wholeOf(request);
          if (read) await take(charactersOf(start));
          const lines = read
            ? countedLines(linesOf(read), take)
            : piecesOf([(start as z.output<typeof outputStreamRequest>).output].flat());
          const events = await answering(
            { ...options, streams, request, reply, format, rewrite: kind === "analyze" },
            start,
            lines,
          );
          return reply
            .type(format.mediaType)
            .headers({ "cache-control": "no-store", "x-accel-buffering": "no" })
            .send(Readable.from(events, { objectMode: false }));
        } catch (error) {
          read?.close();
          throw error;
        }
      },
    });
  }
}

/** The first line of a body, checked. */
async function startOf(request: FastifyRequest, lines: JsonLines): Promise<Start> {
  const first = await lines.next();
  return checked(request, START, first?.value ?? null) as Start;
}

/** The body, where it came as a whole. Fastify checks it only where its type was said, and a request may have neither. */
function wholeOf(request: FastifyRequest): Start {
  const { body } = request;
  return body === undefined ? (checked(request, WHOLE, null) as Start) : (body as Start);
}

/** @throws Error that becomes a 422, for a value that does not fit a schema. */
function checked(request: FastifyRequest, schema: ReturnType<typeof named>, value: unknown): unknown {
  const validate = request.compileValidationSchema(schema);
  if (validate(value)) return value;
  throw Object.assign(new Error("the value has the wrong shape"), { validation: validate.errors ?? [] });
}

/** The pieces of an answer, each of which is counted before it is scanned. */
function countedLines(lines: AnswerLines, take: (characters: number) => Promise<void>): AnswerLines {
  return {
    async next() {
      const line = await lines.next();
      await take(line.text?.length ?? 0);
      return line;
    },
    close: () => lines.close(),
  };
}

/** What is needed to answer one request. */
interface Asked extends OutputStreamOptions {
  streams: Set<AbortController>;
  request: FastifyRequest;
  reply: FastifyReply;
  format: EventFormat;
  rewrite: boolean;
}

/**
 * Begins the scan of an answer, and returns the events about it as they are sent.
 *
 * @throws GuardError or Problem for what is wrong before the scan begins.
 */
async function answering(asked: Asked, start: Start, lines: AnswerLines): Promise<AsyncGenerator<string>> {
  const { profiles, seal, streams, request, reply, rewrite } = asked;
  const { prompt, messages, tools, system, every_step: everyStep, details } = start;
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const { profile, suppress, replacements } = profiles.grant(request, start, "output");
  const stream = profile.service.outputStream(
    prompt,
    {
      suppress,
      replacements,
      offsets: "codePoint",
      rewrite,
      vault: typeof start.vault === "string" ? seal.open(start.vault, request.credential) : new Vault(),
      signal: stop.signal,
      observer: request.scanObserver,
      ...callerOf(request),
    },
    messages ? chatOf({ messages, tools, system }) : undefined,
  );
  const gone = disconnectSignal(reply.raw);
  const end = (reason: unknown) => {
    streams.delete(stop);
    lines.close();
    // Nobody needs what the scan may still do.
    stop.abort(reason);
  };
  gone.addEventListener("abort", () => end(gone.reason), { once: true });
  streams.add(stop);
  try {
    // A scan begins with its first piece. What is wrong with it before has a status of its own.
    await stream.push("");
  } catch (error) {
    end(error);
    throw error;
  }
  const events = answerEvents(lines, stream, { everyStep: everyStep ?? false });
  return written(events, asked, start, stop, () => end(closedError()));
}

/** Writes events, and what goes wrong as the last of them. It goes on when what it wrote was taken. */
async function* written(
  events: AsyncGenerator<AnswerEvent>,
  asked: Asked,
  start: Start,
  { signal }: AbortController,
  onEnd: () => void,
): AsyncGenerator<string> {
  const { format, reply, request, limits } = asked;
  try {
    yield format.opening;
    for await (const event of untilAborted(events, signal)) {
      // A client that takes nothing must not keep the connection.
      const stalled = setTimeout(() => reply.raw.destroy(), limits.idle);
      try {
        yield await lineOf(event, asked, start);
      } finally {
        clearTimeout(stalled);
      }
    }
  } catch (error) {
    if (reply.raw.destroyed) return;
    const problem = problemOf(error as Error, request.log);
    request.scanLog = { ...request.scanLog, error: problem.status };
    yield format.write("error", problemBody(problem));
  } finally {
    onEnd();
  }
}

async function lineOf(event: AnswerEvent, asked: Asked, start: Start): Promise<string> {
  const { format } = asked;
  if (event.event === "text") {
    const { event: name, ...data } = event;
    return format.write(name, data);
  }
  const { outcome, atEnd = [] } = event.report;
  await tell(asked, start, event.report);
  const answer = { ...answerOf(event.report, start.details ?? false), outcome, at_end: atEnd };
  return format.write(outcome === "blocked" ? "blocked" : "done", answer);
}

/** Ends with the reason of a signal as soon as it is aborted, even when nothing comes. */
async function* untilAborted<T>(source: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  aborted.catch(() => {});
  try {
    for (;;) {
      const next = source.next();
      next.catch(() => {});
      const { value, done } = await Promise.race([next, aborted]);
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Tells of the decision about an answer that has ended. The answer itself was not kept. */
function tell({ decisions, request, rewrite }: Asked, start: Start, report: ServiceReport): Promise<void> {
  const { prompt, scanners_suppress: suppress, details } = start;
  return decisions.tell({
    request,
    profile: request.profile,
    side: "output",
    report,
    asked: { suppress: suppress ?? [], offsets: "codePoint", rewrite },
    content: () => ({ prompt }),
  });
}
