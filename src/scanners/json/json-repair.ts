import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import { lazyPackage } from "../../support/lazy-package.ts";
import type { Span } from "../../text/span.ts";

/** The milliseconds that the repairs of one text may take together. What is not repaired by then stays broken. */
const TIME_LIMIT = 1000;
/** How many texts are repaired at the same time. Each of them takes a thread. */
const limit = pLimit(4);

/**
 * The program of the thread. It is a string and not a file of its own, so that it runs the same from TypeScript and from compiled
 * code. It sends its answers in batches, because each message takes a turn of the event loop. What it has is sent before a text that
 * is long enough to get stuck on, so that the answers before it still count.
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

/** So many repaired texts come from the thread in one message. */
const BATCH = 200;
/** A text with more UTF-16 code units than this may take long. Shorter ones take a few milliseconds, however they are made. */
const LONG = 1000;

/**
 * Broken pieces of so many UTF-16 code units together are repaired at once, since a thread takes tens of milliseconds to start. The worst of
 * 2,700 texts made of signs that repeat took 0.5 ms at this length.
 */
const AT_ONCE = 256;

const require = createRequire(import.meta.url);
const library = lazyPackage<typeof import("jsonrepair")>("jsonrepair");

/**
 * Repairs broken JSON with the library jsonrepair.
 *
 * The library is recursive, and takes quadratic time or worse for texts that are made to slow it down. All but little text it therefore
 * repairs in a thread with limits on time and memory.
 *
 * @param spans where the broken pieces stand in the text.
 * @returns the repaired text of each piece, or undefined where the repair failed.
 */
export function repairJson(
  text: string,
  spans: readonly Span[],
  signal?: AbortSignal,
): Promise<(string | undefined)[]> {
  let chars = 0;
  for (const { start, end } of spans) chars += end - start;
  if (chars <= AT_ONCE) return Promise.resolve(spans.map(({ start, end }) => repairedNow(text.slice(start, end))));
  return limit(
    () =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const repaired = new Array<string | undefined>(spans.length).fill(undefined);
        const places = new Uint32Array(spans.length * 2);
        // Arrays in between would hold the event loop for tens of milliseconds where there are a hundred thousand pieces.
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
          // The first message says that the thread has started. The time limit begins then, because the time that the start takes
          // does not count.
          timer ??= setTimeout(() => finish(() => resolve(repaired)), TIME_LIMIT);
          for (const [index, json] of batch) repaired[index] = json;
        });
        worker.once("exit", () => finish(() => resolve(repaired)));
        // When the thread runs out of memory, the text was too much for it and counts as one that cannot be repaired.
        worker.once("error", (error: NodeJS.ErrnoException) =>
          finish(() => (error.code === "ERR_WORKER_OUT_OF_MEMORY" ? resolve(repaired) : reject(error))),
        );
      }),
  );
}

function repairedNow(broken: string): string | undefined {
  const { jsonrepair } = library();
  try {
    const repaired = jsonrepair(broken);
    JSON.parse(repaired);
    return repaired;
  } catch {
    return undefined;
  }
}
