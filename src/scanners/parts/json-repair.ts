import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";

/** The milliseconds that the repairs of one text may take together. What is not repaired by then stays broken. */
const TIME_LIMIT = 1000;
/** How many texts are repaired at the same time. Each of them takes a thread. */
const limit = pLimit(4);

/**
 * The program of the thread. It is a string and not a file of its own, so that it runs the same from TypeScript and from compiled
 * code. It sends its answers one by one, so that the answers before a text on which it gets stuck still count.
 */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { jsonrepair } = require(workerData.library);
parentPort.postMessage({});
for (const [index, text] of workerData.texts.entries()) {
  let repaired;
  try {
    repaired = jsonrepair(text);
    JSON.parse(repaired);
  } catch {
    continue;
  }
  parentPort.postMessage({ index, repaired });
}`;

/**
 * Repairs broken JSON with the library jsonrepair.
 *
 * The library is recursive, and takes quadratic time or worse for texts that are made to slow it down. It therefore works in a
 * thread with limits on time and memory.
 *
 * @returns the repaired text for each text, or undefined where the repair failed.
 */
export function repairJson(texts: readonly string[], signal?: AbortSignal): Promise<(string | undefined)[]> {
  return limit(
    () =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const repaired: (string | undefined)[] = texts.map(() => undefined);
        const library = createRequire(import.meta.url).resolve("jsonrepair");
        const worker = new Worker(PROGRAM, {
          eval: true,
          workerData: { library, texts },
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
        worker.on("message", (answer: { index?: number; repaired?: string }) => {
          // The first message says that the thread has started. The time limit begins then, because the time that the start takes
          // does not count.
          if (answer.index === undefined) timer = setTimeout(() => finish(() => resolve(repaired)), TIME_LIMIT);
          else repaired[answer.index] = answer.repaired;
        });
        worker.once("exit", () => finish(() => resolve(repaired)));
        // When the thread runs out of memory, the text was too much for it and counts as one that cannot be repaired.
        worker.once("error", (error: NodeJS.ErrnoException) =>
          finish(() => (error.code === "ERR_WORKER_OUT_OF_MEMORY" ? resolve(repaired) : reject(error))),
        );
      }),
  );
}
