import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { z } from "zod";
import { problemBody } from "../../http-server/problem.ts";
import { answerOf } from "../../service/json-report.ts";
import { disconnectSignal } from "../../support/disconnect.ts";
import { GuardError } from "../../support/errors.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import type { Granted } from "../callers/profiles.ts";
import { scanProblems } from "../http/problem-replies.ts";
import { problemOf } from "../plugins/errors.ts";
import { batchExamples, type outputsRequest, type promptsRequest } from "../schemas/batch.ts";
import { named } from "../schemas/named.ts";
import type { ScanFields } from "../schemas/scan.ts";
import { NDJSON } from "../streams/event-format.ts";
import { outputItem } from "./output.ts";
import { PROMPT } from "./prompt.ts";
import { type Item, type ScanRoutesOptions, scanned } from "./scan-routes.ts";

/** Texts of one request that are judged at the same time: enough for the threads, and few enough to leave room for others. */
const AT_A_TIME = 4;
/** How long a text waits before it is tried again when too many scans run, in milliseconds. */
const AGAIN = 250;

/** What the routes need besides what all routes need that scan. */
export interface BatchRoutesOptions extends ScanRoutesOptions {
  /** How many milliseconds a text may wait for its turn when too many scans run. */
  patience: number;
}

type PromptFields = ScanFields & Pick<z.output<typeof promptsRequest>, "source"> & { prompt: string };
type OutputFields = ScanFields & { prompt: string; output: string };

/** `POST /scan/prompts` and `POST /scan/outputs`: many texts in one request, whose results come line by line in their order. */
export async function batchRoutes(app: FastifyInstance, options: BatchRoutesOptions): Promise<void> {
  add<z.output<typeof promptsRequest>, PromptFields>("prompts", "PromptsRequest", PROMPT, ({ prompts, ...fields }) =>
    prompts.map((prompt) => ({ ...fields, prompt })),
  );
  add<z.output<typeof outputsRequest>, OutputFields>(
    "outputs",
    "OutputsRequest",
    outputItem(app.log),
    ({ outputs, ...fields }) => outputs.map(({ prompt, output }) => ({ ...fields, prompt: prompt ?? "", output })),
  );

  function add<Body extends ScanFields, Fields extends ScanFields>(
    what: "prompts" | "outputs",
    request: string,
    item: Item<Fields>,
    itemsOf: (body: Body) => Fields[],
  ): void {
    app.post(`/scan/${what}`, {
      schema: {
        tags: ["Scan"],
        operationId: `scan_${what}`,
        summary: `Check ${what}, each by itself`,
        body: named(request),
        response: {
          200: {
            description: "A line for each text, in their order",
            content: {
              [NDJSON]: {
                schema: named("BatchLine"),
                example: what === "prompts" ? batchExamples.promptLine : batchExamples.outputLine,
              },
            },
          },
        } as Record<number, unknown>,
      },
      config: { problems: scanProblems, requestExample: batchExamples[what] },
      handler: async (request, reply) => {
        const body = request.body as Body;
        const granted = options.profiles.grant(request, body, item.source);
        const { service } = granted.profile;
        // What is wrong with all of them is a reply of its own.
        if (service.notReady) throw service.notReady;
        const items = itemsOf(body);
        // Each text counts as a request, and the first of them has been counted as this one.
        await app.callerLimits.takeRequests(request, reply, items.length - 1);
        const signal = disconnectSignal(reply.raw);
        const line = async (fields: Fields, index: number): Promise<string> =>
          `${JSON.stringify({ index, ...(await judged(options, item, request, { fields, granted, signal })) })}\n`;
        return reply
          .type(NDJSON)
          .headers({ "cache-control": "no-store", "x-accel-buffering": "no" })
          .send(Readable.from(inOrder(items, line), { objectMode: false }));
      },
    });
  }
}

/** The results of a text, or the problem that it ended with. Other texts go on. */
async function judged<Fields extends ScanFields>(
  options: BatchRoutesOptions,
  item: Item<Fields>,
  request: Parameters<typeof scanned>[2],
  asked: { fields: Fields; granted: Granted; signal: AbortSignal },
): Promise<object> {
  const { signal, fields } = asked;
  const until = performance.now() + options.patience;
  for (;;) {
    try {
      const { report } = await scanned(options, item, request, { ...asked, until: signal, kind: "scan" });
      return answerOf(report, fields.details ?? false);
    } catch (error) {
      signal.throwIfAborted();
      const isBusy = error instanceof GuardError && error.code === "GUARD_OVERLOADED";
      // The texts of a request wait for their turn, as requests of their own would be told to.
      if (!isBusy || performance.now() + AGAIN > until) return problemBody(problemOf(error as Error, request.log));
      await sleep(AGAIN, undefined, { signal });
    }
  }
}

/** Works on a few items at the same time, and gives the results in the order of the items. */
async function* inOrder<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): AsyncGenerator<R> {
  const slice = new TimeSlice();
  const running: Promise<R>[] = [];
  for (const [index, item] of items.entries()) {
    // Short texts are scanned at once, so that nothing else would let the event loop go on.
    if (slice.isOver) await slice.next();
    const result = work(item, index);
    // Each is awaited below. One that rejects before that must not count as an unhandled rejection.
    result.catch(() => {});
    running.push(result);
    if (running.length >= AT_A_TIME) yield await (running.shift() as Promise<R>);
  }
  for (const result of running) yield await result;
}
