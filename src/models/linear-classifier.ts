import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Abortable, addon, type NativeLinear, native } from "../native.ts";
import { GuardError } from "../support/errors.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { WeakCache } from "../support/weak-cache.ts";
import { readModelFile } from "./manifest.ts";
import { selfTest } from "./self-test.ts";

/** How many texts are passed to the addon at once. */
const BATCH_SIZE = 1000;

/** Whether a folder contains a linear classifier. */
export function isLinearFolder(folder: string): boolean {
  return existsSync(join(folder, "model.bin"));
}

/** The labels of a classifier in the order of the probabilities, and their aliases in lower case. */
export interface LinearDescription {
  labels: string[];
  aliases: Record<string, string>;
}

/** A linear classifier: a folder with `config.json` and `model.bin`. It loads once, at the latest on its first call. */
export class LinearClassifier {
  readonly folder: string;
  #loading: Promise<NativeLinear> | undefined;
  #description: LinearDescription | undefined;
  #closed = false;

  /** Use `Engine.linear` to create a classifier. The files are read later. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Reads the labels once. The model need not be loaded.
   *
   * @throws GuardError if the model has no valid `config.json`.
   */
  describe(): LinearDescription {
    this.#description ??= readDescription(this.folder);
    return this.#description;
  }

  /** Returns the native model. The next call retries after a failure. */
  async load(): Promise<NativeLinear> {
    if (this.#closed) throw new GuardError("GUARD_CLOSED", "the model is closed");
    if (!this.#loading) {
      const loading = loadShared(this.folder);
      this.#loading = loading;
      loading.catch(() => {
        if (this.#loading === loading) this.#loading = undefined;
      });
    }
    return this.#loading;
  }

  /**
   * Runs the self-test of the model, if it is loaded.
   *
   * @throws GuardError `GUARD_MODEL` if an answer differs.
   */
  async selfTest(): Promise<void> {
    // The next text retries a failed load and reports its error.
    const model = await this.#loading?.catch(() => undefined);
    if (model) await test(model, this.folder);
  }

  /** Returns the probabilities of the labels for each text. Texts are passed in batches, because the addon copies them on the event loop. */
  async classify(texts: readonly string[], abortable: Abortable = {}): Promise<number[][]> {
    return this.#inBatches(texts, (model, batch) => model.classify(batch), abortable);
  }

  /**
   * Does the same as {@link classify}, but repetition alone does not count as evidence for `labels`, which are indices. The repeated part of
   * a text is classified once and by itself. If that lowers the probability, the higher one of the text without repeats and the repeated
   * part counts.
   */
  async classifyWithoutRepeats(
    texts: readonly string[],
    labels: readonly number[],
    abortable: Abortable = {},
  ): Promise<number[][]> {
    return this.#inBatches(texts, (model, batch) => model.classifyOnce(batch, [...labels]), abortable);
  }

  async #inBatches(
    texts: readonly string[],
    ask: (model: NativeLinear, batch: string[]) => Float64Array | Promise<Float64Array>,
    abortable: Abortable,
  ): Promise<number[][]> {
    const model = await this.load();
    const slice = new TimeSlice(abortable.signal);
    const all: number[][] = [];
    for (let at = 0; at < texts.length; at += BATCH_SIZE) {
      if (at > 0) await slice.next();
      const batch = texts.slice(at, at + BATCH_SIZE);
      const numbers = await native(() => ask(model, batch), abortable);
      const labels = numbers.length / batch.length;
      for (let from = 0; from < numbers.length; from += labels) all.push([...numbers.subarray(from, from + labels)]);
    }
    return all;
  }

  /** Frees the model. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#loading = undefined;
  }
}

/**
 * The models of this process, which classifiers of the same files share. Each takes up to 16 MB that V8 does not know of. If a program creates
 * a scanner for each text and each scanner has its own copy, V8 collects the unused copies too late, and the memory fills up.
 */
const models = new WeakCache<Promise<NativeLinear>>();

/** Loads a model and runs its self-test, unless another classifier has loaded the same files. */
function loadShared(folder: string): Promise<NativeLinear> {
  const key = stateOf(folder);
  return models.getOrCreate(key, () => {
    const loading = loadAndTest(folder);
    loading.catch(() => models.delete(key));
    return loading;
  });
}

async function loadAndTest(folder: string): Promise<NativeLinear> {
  const model = await native(() => addon.loadLinear(folder));
  await test(model, folder);
  return model;
}

/** Returns the folder and the state of the files of its model. If a file changes, so does the result. */
function stateOf(folder: string): string {
  const files = ["model.bin", "config.json", "self-test.json"].map((name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "";
  });
  return [folder, ...files].join("\n");
}

function readDescription(folder: string): LinearDescription {
  const content = readModelFile(folder, "config.json");
  try {
    const { id2label, aliases = {} } = JSON.parse(content ?? "");
    return { labels: Object.keys(id2label).map((_, id) => String(id2label[id])), aliases };
  } catch (error) {
    const path = join(folder, "config.json");
    throw new GuardError("GUARD_MODEL", `the model file ${path} cannot be used: ${(error as Error).message}`);
  }
}

function test(model: NativeLinear, folder: string): Promise<void> {
  return selfTest(folder, folder, model, async (text) => {
    const probabilities = await native(() => model.classify([text]));
    const scores = Object.fromEntries(model.labels.map((label, index) => [label, probabilities[index] ?? Number.NaN]));
    return { scores: { default: scores }, spans: [] };
  });
}
