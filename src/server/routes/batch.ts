import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { problemBody } from "../../http-server/problem.ts";
import { jsonReport } from "../../service/json-report.ts";
import { disconnectSignal } from "../../support/disconnect.ts";
import { GuardError } from "../../support/errors.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import type { GrantedOptions } from "../callers/profiles.ts";
import { type KnownFields, namesOf, type OtherFields } from "../http/other-fields.ts";
import { scanProblems } from "../http/problem-replies.ts";
import { problemOf } from "../plugins/errors.ts";
import { batchExamples, outputsRequest, promptsRequest } from "../schemas/batch.ts";
import { named } from "../schemas/named.ts";
import type { ScanFields } from "../schemas/scan.ts";
import { NDJSON } from "../streams/event-format.ts";
import { outputSubject } from "./output.ts";
import { PROMPT } from "./prompt.ts";
import { type ScanRoutesOptions, type ScanSubject, scanRequest } from "./scan-routes.ts";

/** Concurrent scans of a batch: enough for the threads of models, without blocking other requests. */
const CONCURRENCY = 4;
const RETRY_DELAY_MS = 250;

export interface BatchRoutesOptions extends ScanRoutesOptions {
  /** Milliseconds during which a text is retried while the server is overloaded. */
  retryMs: number;
}

/** A batch route. */
interface Batch<Body extends ScanFields, Fields extends ScanFields> {
  name: "prompts" | "outputs";
  /** The name of the body's schema. */
  request: string;
  subject: ScanSubject<Fields>;
  /** The fields of the body. */
  known: KnownFields;
  /** Returns the fields of a single scan for each text of a body. */
  itemsOf(body: Body): Fields[];
}

type PromptFields = ScanFields & Pick<z.output<typeof promptsRequest>, "source"> & { prompt: string };
type OutputFields = ScanFields & { prompt: string; output: string };

/** `POST /scan/prompts` and `POST /scan/outputs`: many texts in one request, with one line for each result, in order. */
export async function batchRoutes(app: FastifyInstance, options: BatchRoutesOptions): Promise<void> {
  addBatchRoute<z.output<typeof promptsRequest>, PromptFields>(app, options, {
    name: "prompts",
    request: "PromptsRequest",
    known: { names: namesOf(promptsRequest) },
    subject: PROMPT,
    itemsOf: ({ prompts, ...fields }) => prompts.map((prompt) => ({ ...fields, prompt })),
  });
  addBatchRoute<z.output<typeof outputsRequest>, OutputFields>(app, options, {
    name: "outputs",
    request: "OutputsRequest",
    known: { names: namesOf(outputsRequest), items: { outputs: new Set(["prompt", "output"]) } },
    subject: outputSubject(app.log),
    itemsOf: ({ outputs, ...fields }) =>
      outputs.map(({ prompt, output }) => ({ ...fields, prompt: prompt ?? "", output })),
  });
}

function addBatchRoute<Body extends ScanFields, Fields extends ScanFields>(
  app: FastifyInstance,
  options: BatchRoutesOptions,
  batch: Batch<Body, Fields>,
): void {
  const { name, request: schema } = batch;
  const example = name === "prompts" ? batchExamples.promptLine : batchExamples.outputLine;
  app.post(`/scan/${name}`, {
    schema: {
      tags: ["Scan"],
      operationId: `scan_${name}`,
      summary: `Check several ${name}, each by itself`,
      body: named(schema),
      response: {
        200: {
          description: "A line for each text, in order",
          content: { [NDJSON]: { schema: named("BatchLine"), example } },
        },
      } as Record<number, unknown>,
    },
    config: { problems: scanProblems, requestExample: batchExamples[name] },
    handler: (request, reply) => handleBatch(app, options, batch, request, reply),
  });
}

async function handleBatch<Body extends ScanFields, Fields extends ScanFields>(
  app: FastifyInstance,
  options: BatchRoutesOptions,
  { subject, known, itemsOf }: Batch<Body, Fields>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = request.body as Body;
  const others = options.unknownFields.take(body, known);
  const granted = options.profiles.grant(request, body, subject.source);
  const { service } = granted.profile;
  // Errors that concern all texts get a status of their own.
  if (service.notReady) throw service.notReady;
  const items = itemsOf(body);
  // Each text counts as a request. The request itself is counted already.
  await app.callerLimits.takeRequests(request, reply, items.length - 1);
  const signal = disconnectSignal(reply.raw);
  const line = async (fields: Fields, index: number): Promise<string> =>
    `${JSON.stringify({ index, ...(await scanItem(options, subject, request, { fields, others, granted, signal })) })}\n`;
  return reply
    .type(NDJSON)
    .headers({ "cache-control": "no-store", "x-accel-buffering": "no" })
    .send(Readable.from(mapInOrder(items, line), { objectMode: false }));
}

/** Returns the result of a text, or its problem. */
async function scanItem<Fields extends ScanFields>(
  options: BatchRoutesOptions,
  subject: ScanSubject<Fields>,
  request: FastifyRequest,
  item: { fields: Fields; others: OtherFields; granted: GrantedOptions; signal: AbortSignal },
): Promise<object> {
  const { signal, fields } = item;
  const deadline = performance.now() + options.retryMs;
  for (;;) {
    try {
      const { report } = await scanRequest(options, subject, request, { ...item, until: signal, kind: "scan" });
      return jsonReport(report, fields.details ?? false);
    } catch (error) {
      signal.throwIfAborted();
      const isOverloaded = error instanceof GuardError && error.code === "GUARD_OVERLOADED";
      const canRetry = isOverloaded && performance.now() + RETRY_DELAY_MS <= deadline;
      if (!canRetry) return problemBody(problemOf(error as Error, request.log));
      await sleep(RETRY_DELAY_MS, undefined, { signal });
    }
  }
}

/** Maps items with limited concurrency, and yields the results in the order of the items. */
async function* mapInOrder<T, R>(items: readonly T[], map: (item: T, index: number) => Promise<R>): AsyncGenerator<R> {
  const slice = new TimeSlice();
  const running: Promise<R>[] = [];
  for (const [index, item] of items.entries()) {
    // Short texts are scanned synchronously, so the event loop needs a turn from time to time.
    if (slice.isOver) await slice.next();
    const result = map(item, index);
    // All results are awaited below. An earlier rejection must not be unhandled.
    result.catch(() => {});
    running.push(result);
    if (running.length >= CONCURRENCY) yield await (running.shift() as Promise<R>);
  }
  for (const result of running) yield await result;
}
