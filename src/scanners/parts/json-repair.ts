import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";

/** Milliseconds that the repairs of one text may take together; what is not repaired then stays broken. */
const TIME_LIMIT = 1000;
/** Texts that are repaired at a time; each takes a thread. */
const limit = pLimit(4);

/**
 * The program of the thread. Text and not a file of its own, so that it runs the same from TypeScript and compiled. Answers
 * come one by one, so that those before a stuck one count.
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
 * The library recurses, and takes quadratic time or worse over texts made for that. It therefore works in a thread with limits of
 * time and memory.
 *
 * @returns for each text what it was repaired to; nothing where that failed.
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
          // The first one says that the thread is at work: how long it took to start does not count.
          if (answer.index === undefined) timer = setTimeout(() => finish(() => resolve(repaired)), TIME_LIMIT);
          else repaired[answer.index] = answer.repaired;
        });
        worker.once("exit", () => finish(() => resolve(repaired)));
        // Out of memory: the text was too much, which is what a text that can not be repaired is.
        worker.once("error", (error: NodeJS.ErrnoException) =>
          finish(() => (error.code === "ERR_WORKER_OUT_OF_MEMORY" ? resolve(repaired) : reject(error))),
        );
      }),
  );
}
