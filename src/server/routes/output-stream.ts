import { setMaxListeners } from "node:events";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { Problem, problemBody } from "../../http-server/problem.ts";
import { isWithheld } from "../../scan/outcome.ts";
import { jsonReport } from "../../service/json-report.ts";
import type { ServiceReport } from "../../service/service-types.ts";
import { Bag } from "../../support/bag.ts";
import { disconnectSignal } from "../../support/disconnect.ts";
import { closedError, GuardValidationError } from "../../support/errors.ts";
import { callerOf } from "../callers/caller.ts";
import { countCharacters } from "../callers/characters.ts";
import type { GrantedOptions } from "../callers/profiles.ts";
import { type KnownFields, namesOf } from "../http/other-fields.ts";
import { scanProblems } from "../http/problem-replies.ts";
import { problemOf } from "../plugins/errors.ts";
import { assertPlain } from "../plugins/json-body.ts";
import { chatOf } from "../schemas/conversation.ts";
import { named } from "../schemas/named.ts";
import { outputStreamExamples, outputStreamRequest, outputStreamStart } from "../schemas/output-stream.ts";
import { offsetUnitOf } from "../schemas/scan.ts";
import { type EventFormat, formatFor, NDJSON, SSE } from "../streams/event-format.ts";
import { JsonLines, type LineLimits } from "../streams/json-lines.ts";
import { type OutputEvent, outputEvents } from "../streams/output-events.ts";
import { type OutputPieces, piecesInLines, piecesOf } from "../streams/output-pieces.ts";
import type { ScanRoutesOptions } from "./scan-routes.ts";

type Start = z.output<typeof outputStreamStart>;

export interface OutputStreamOptions extends Omit<ScanRoutesOptions, "cache"> {
  limits: LineLimits;
  /** Milliseconds that open streams may continue when the server closes. */
  graceMs: number;
}

const START = named("OutputStreamStart");
const WHOLE = named("OutputStreamRequest");

const RESPONSE: Record<number, unknown> = {
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
};

const PROBLEMS = {
  ...scanProblems,
  408: { description: "No line in time", example: new Problem(408, "No line arrived for 120 s.") },
  406: {
    description: "The client accepts no format of the response",
    example: new Problem(406, "The response is text/event-stream."),
  },
};

/**
 * `POST /analyze/output/stream` and `POST /scan/output/stream`: the client sends an output piece by piece, and gets the parts that it may
 * show in the response of the same request.
 */
export async function outputStreamRoutes(app: FastifyInstance, options: OutputStreamOptions): Promise<void> {
  const streams = openStreams(app, options.graceMs);
  // The body is read while the response is written. Only these routes accept it.
  app.addContentTypeParser(NDJSON, (request, payload, done) => {
    try {
      assertPlain(request.headers);
      done(null, payload);
    } catch (error) {
      done(error as Error);
    }
  });

  for (const kind of ["analyze", "scan"] as const) {
    const rewrite = kind === "analyze";
    app.post(`/${kind}/output/stream`, {
      schema: {
        tags: [rewrite ? "Analyze" : "Scan"],
        operationId: `${kind}_output_stream`,
        summary: rewrite ? "Check an output while it arrives, and sanitize it" : "Check an output while it arrives",
        body: {
          content: {
            "application/json": { schema: WHOLE },
            [NDJSON]: { schema: { description: "Lines of JSON: OutputStreamStart, then the pieces of the output." } },
          },
        },
        response: RESPONSE,
      },
      config: {
        problems: PROBLEMS,
        requestExample: outputStreamExamples.request,
        requestLines: outputStreamExamples.lines,
        streams: true,
      },
      handler: (request, reply) => handleStream(app, { ...options, streams, request, reply, rewrite }),
    });
  }
}

/** Returns the open streams, which are aborted when the server closes. */
function openStreams(app: FastifyInstance, graceMs: number): Bag<AbortController> {
  const streams = new Bag<AbortController>();
  let timer: NodeJS.Timeout | undefined;
  app.addHook("preClose", async () => {
    timer = setTimeout(() => {
      for (const stream of streams) stream.abort(closedError());
    }, graceMs);
  });
  app.addHook("onClose", async () => clearTimeout(timer));
  return streams;
}

/** A request with the options of its route. */
interface StreamCall extends OutputStreamOptions {
  streams: Bag<AbortController>;
  request: FastifyRequest;
  reply: FastifyReply;
  rewrite: boolean;
}

async function handleStream(app: FastifyInstance, call: StreamCall): Promise<FastifyReply> {
  const { request, reply, limits } = call;
  const format = formatFor(request.headers.accept);
  const { body } = request;
  const lines = body instanceof Readable ? new JsonLines(body, limits, request.openBody) : undefined;
  try {
    const take = (count: number) => app.callerLimits.takeCharacters(request, reply, count);
    const start = lines ? await readStart(request, lines) : wholeBody(request);
    if (lines) await take(countCharacters(start));
    const pieces = lines
      ? countPieces(piecesInLines(lines), take)
      : piecesOf([(start as z.output<typeof outputStreamRequest>).output].flat());
    const events = await scanStream(call, start, pieces, format);
    return reply
      .type(format.mediaType)
      .headers({ "cache-control": "no-store", "x-accel-buffering": "no" })
      .send(Readable.from(events, { objectMode: false }));
  } catch (error) {
    lines?.close();
    throw error;
  }
}

/** Fields of an output that the first line does not have. */
const UNREAD = {
  output: 'the first line has none: send it in further lines, {"text": "..."}',
  tool_calls: "streams have none: check them with /analyze/output when the answer is complete",
};

/** Reads and validates the first line of a body. */
async function readStart(request: FastifyRequest, lines: JsonLines): Promise<Start> {
  const first = await lines.next();
  const start = assertShape(request, START, first?.value ?? null) as Start;
  // An unknown field would be reported in the coverage only, and the client would take its output for scanned.
  const issues = Object.entries(UNREAD).flatMap(([path, message]) => (path in start ? [{ path, message }] : []));
  if (issues.length > 0) throw new GuardValidationError(issues);
  return start;
}

/** Returns a body in JSON. Fastify validates it only if the request has a content type, which it may lack together with a body. */
function wholeBody(request: FastifyRequest): Start {
  const { body } = request;
  return body === undefined ? (assertShape(request, WHOLE, null) as Start) : (body as Start);
}

/** @throws Error that becomes status 422 if the value does not match the schema. */
function assertShape(request: FastifyRequest, schema: ReturnType<typeof named>, value: unknown): unknown {
  const validate = request.compileValidationSchema(schema);
  if (validate(value)) return value;
  throw Object.assign(new Error("the value has the wrong shape"), { validation: validate.errors ?? [] });
}

/** Counts the characters of each piece before it is scanned. */
function countPieces(pieces: OutputPieces, take: (characters: number) => Promise<void>): OutputPieces {
  return {
    async next() {
      const piece = await pieces.next();
      await take(piece.text?.length ?? 0);
      return piece;
    },
    close: () => pieces.close(),
  };
}

/**
 * Starts the scan of an output, and returns the serialized events.
 *
 * @throws GuardError or Problem for errors before the first event.
 */
async function scanStream(
  call: StreamCall,
  start: Start,
  pieces: OutputPieces,
  format: EventFormat,
): Promise<AsyncGenerator<string>> {
  const { streams, reply } = call;
  const granted = call.profiles.grant(call.request, start, "output");
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const stream = openScan(call, start, granted, controller.signal);
  const disconnected = disconnectSignal(reply.raw);
  const remove = streams.add(controller);
  const end = (reason: unknown) => {
    remove();
    pieces.close();
    // Stops scanners that still run.
    controller.abort(reason);
  };
  disconnected.addEventListener("abort", () => end(disconnected.reason), { once: true });
  try {
    // The scan starts with its first piece. Errors until then have a status of their own.
    await stream.push("");
  } catch (error) {
    end(error);
    throw error;
  }
  const events = outputEvents(pieces, stream, { everyStep: start.every_step ?? false });
  const output = { ...call, start, granted, format, onEnd: () => end(closedError()) };
  return writeEvents(untilAborted(events, controller.signal), output);
}

/** The fields of the first line, or of a whole body. */
const KNOWN: KnownFields = {
  names: new Set([...namesOf(outputStreamStart), ...namesOf(outputStreamRequest)]),
  requestFields: "known",
};

function openScan(
  { seal, unknownFields, request, rewrite }: StreamCall,
  start: Start,
  { profile, suppress, replacements }: GrantedOptions,
  signal: AbortSignal,
) {
  const others = unknownFields.take(start, KNOWN);
  const { prompt, messages, tools, system, fields, vault } = start;
  return profile.service.outputStream(
    prompt,
    {
      suppress,
      replacements,
      offsets: offsetUnitOf(start),
      rewrite,
      vault: typeof vault === "string" ? seal.open(vault, request.credential) : seal.create(),
      signal,
      observer: request.scanObserver,
      ...callerOf(request),
      // A stream has no scan before its first piece, so unknown fields are reported in place of read.
      unknownFields: others.unknownFields ?? Object.keys(others.fields ?? {}),
    },
    messages ? chatOf({ messages, tools, system, fields }) : undefined,
  );
}

/** A stream whose scan has started. */
interface StartedStream extends StreamCall {
  start: Start;
  granted: GrantedOptions;
  format: EventFormat;
  onEnd(): void;
}

/** Serializes events, with an error as the last one. */
async function* writeEvents(events: AsyncGenerator<OutputEvent>, stream: StartedStream): AsyncGenerator<string> {
  const { reply, request, limits, format, onEnd } = stream;
  try {
    yield format.opening;
    for await (const event of events) {
      // The generator continues when the client has read the event. A client that reads nothing is disconnected.
      const stalled = setTimeout(() => reply.raw.destroy(), limits.idleMs);
      try {
        yield await writeEvent(event, stream);
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

async function writeEvent(event: OutputEvent, stream: StartedStream): Promise<string> {
  const { start, format } = stream;
  if (event.event === "text") {
    const { event: name, ...data } = event;
    return format.write(name, data);
  }
  const { outcome, atEnd = [] } = event.report;
  await publishDecision(stream, event.report);
  const answer = { ...jsonReport(event.report, start.details ?? false), outcome, at_end: atEnd };
  return format.write(isWithheld(event.report) ? "blocked" : "done", answer);
}

/** Ends with the reason of a signal as soon as it is aborted, even while the source is pending. */
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

/** The output is not kept, so the decision has only the prompt. */
function publishDecision(
  { decisions, request, rewrite, start, granted }: StartedStream,
  report: ServiceReport,
): Promise<void> {
  const { prompt } = start;
  const { suppress, recognizers } = granted;
  return decisions.publish({
    request,
    profile: request.profile,
    side: "output",
    report,
    recognizers,
    options: { suppress, offsets: offsetUnitOf(start), rewrite },
    content: () => ({ prompt }),
  });
}
