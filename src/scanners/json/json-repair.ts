import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import { lazyPackage } from "../../support/lazy-package.ts";
import type { Span } from "../../text/span.ts";

/** The time limit of all repairs of one text. Pieces that are not repaired by then stay broken. */
const TIME_LIMIT_MS = 1000;
/** How many texts are repaired at the same time, in a thread each. */
const limit = pLimit(4);

/**
 * The program of the thread. It is a string, so that it runs from TypeScript and from compiled code. It sends its results in batches,
 * because each message takes an iteration of the event loop. It sends pending results before a piece that may take long, so that they
 * are not lost if that piece reaches the time limit.
 */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { jsonrepair } = require(workerData.library);
const { text, places, most, long } = workerData;
parentPort.postMessage([]);
let batch = [];
let chars = 0;
const send = () => {
  if (batch.length > 0) parentPort.postMessage(batch);
  batch = [];
  chars = 0;
};
for (let index = 0; index * 2 < places.length; index += 1) {
  const broken = text.slice(places[index * 2], places[index * 2 + 1]);
  if (broken.length > long) send();
  let repaired;
  try {
    repaired = jsonrepair(broken);
    JSON.parse(repaired);
  } catch {
    continue;
  }
  batch.push([index, repaired]);
  chars += repaired.length;
  if (batch.length >= most || chars > long) send();
}
send();`;

/** The most repaired pieces in one message of the thread. */
const BATCH = 200;
/** A piece with more UTF-16 code units than this may take long. Shorter pieces take a few milliseconds. */
const LONG = 1000;

/**
 * Up to this many UTF-16 code units are repaired on the event loop, because a thread takes tens of milliseconds to start. The slowest of
 * 2,700 texts of repeated characters took 0.5 ms at this length.
 */
const MAX_INLINE = 256;

const require = createRequire(import.meta.url);
const library = lazyPackage<typeof import("jsonrepair")>("jsonrepair");

/**
 * Repairs broken JSON with the library jsonrepair.
 *
 * The library is recursive, and takes quadratic time or worse for texts that are made to slow it down. Except for short texts, it
 * therefore runs in a thread with limits on time and memory.
 *
 * @param spans the broken pieces of the text.
 * @returns the repaired text of each piece, or undefined if its repair failed.
 */
export function repairJson(
  text: string,
  spans: readonly Span[],
  signal?: AbortSignal,
): Promise<(string | undefined)[]> {
  let chars = 0;
  for (const { start, end } of spans) chars += end - start;
  if (chars <= MAX_INLINE) return Promise.resolve(spans.map(({ start, end }) => repairInline(text.slice(start, end))));
  return limit(
    () =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const repaired = new Array<string | undefined>(spans.length).fill(undefined);
        const places = new Uint32Array(spans.length * 2);
        // With a hundred thousand pieces, intermediate arrays would block the event loop for tens of milliseconds.
        let at = 0;
        for (const { start, end } of spans) {
          places[at++] = start;
          places[at++] = end;
        }
        const worker = new Worker(PROGRAM, {
          eval: true,
          workerData: { library: require.resolve("jsonrepair"), text, places, most: BATCH, long: LONG },
          resourceLimits: { maxOldGenerationSizeMb: 128 },
        });
        let timer: NodeJS.Timeout | undefined;
        const finish = (settle: () => void) => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", onAbort);
          void worker.terminate();
          settle();
        };
        const onAbort = () => finish(() => reject(signal?.reason));
        signal?.addEventListener("abort", onAbort, { once: true });
        worker.on("message", (batch: [index: number, repaired: string][]) => {
          // The time limit begins with the first message, which means that the thread has started.
          timer ??= setTimeout(() => finish(() => resolve(repaired)), TIME_LIMIT_MS);
          for (const [index, json] of batch) repaired[index] = json;
        });
        worker.once("exit", () => finish(() => resolve(repaired)));
        // A text that exhausts the memory of the thread cannot be repaired.
        worker.once("error", (error: NodeJS.ErrnoException) =>
          finish(() => (error.code === "ERR_WORKER_OUT_OF_MEMORY" ? resolve(repaired) : reject(error))),
        );
      }),
  );
}

function repairInline(broken: string): string | undefined {
  const { jsonrepair } = library();
  try {
    const repaired = jsonrepair(broken);
    JSON.parse(repaired);
    return repaired;
  } catch {
    return undefined;
  }
}
