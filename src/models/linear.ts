import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Abortable, addon, type NativeLinear, native } from "../native.ts";
import { GuardError } from "../support/errors.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { readModelFile } from "./manifest.ts";
import { selfTest } from "./self-test.ts";

/** So many texts cross to the addon at once. */
const PORTION = 1000;

/** Tells whether a folder has the weights of a linear classifier. */
export function isLinearFolder(folder: string): boolean {
  return existsSync(join(folder, "model.bin"));
}

/** A linear classifier: a folder with `config.json` and `model.bin`. It loads once, at the latest when it is first asked. */
export class LinearClassifier {
  readonly folder: string;
  #loading: Promise<NativeLinear> | undefined;
  #closed = false;

  /** Made by `Engine.linear`; the files of the folder are read later. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * The labels of the model in the order of the probabilities, and their other names in lower case; known before it is loaded.
   *
   * @throws GuardError when the model has no readable `config.json`.
   */
  described(): { labels: string[]; aliases: Record<string, string> } {
    const path = join(this.folder, "config.json");
    const content = readModelFile(this.folder, "config.json");
    try {
      const { id2label, aliases = {} } = JSON.parse(content ?? "");
      return { labels: Object.keys(id2label).map((_, id) => String(id2label[id])), aliases };
    } catch (error) {
      throw new GuardError("GUARD_MODEL", `the model file ${path} cannot be used: ${(error as Error).message}`);
    }
  }

  /** The model itself, for calls of the addon that take one. A failed load is tried again by the next call. */
  load(): Promise<NativeLinear> {
    if (this.#closed) return Promise.reject(new GuardError("GUARD_CLOSED", "the model is closed"));
    if (!this.#loading) {
      const loading = this.#open();
      this.#loading = loading;
      loading.catch(() => {
        if (this.#loading === loading) this.#loading = undefined;
      });
    }
    return this.#loading;
  }

  /**
   * Checks that the model says of the texts of its self-test what it should; does nothing while it is not loaded.
   *
   * @throws GuardError `GUARD_MODEL` when it does not.
   */
  async selfTest(): Promise<void> {
    // A model that could not be loaded is tried again by the next text, which then gets the error.
    const model = await this.#loading?.catch(() => undefined);
    if (model) await test(model, this.folder);
  }

  async #open(): Promise<NativeLinear> {
    const model = await native(() => addon.loadLinear(this.folder));
    await test(model, this.folder);
    return model;
  }

  /** The probabilities of the labels for each text. Many texts cross to the addon in portions, because it reads them on the event loop. */
  async classify(texts: readonly string[], abortable: Abortable = {}): Promise<number[][]> {
    return this.#inPortions(texts, (model, portion) => model.classify(portion), abortable);
  }

  /**
   * The same, where repetition alone does not speak for any of `labels`, by their indices: what a text repeats is read once and by
   * itself, and the likelier of these two counts where it is less likely than the text as it is written.
   */
  async classifyOnce(
    texts: readonly string[],
    labels: readonly number[],
    abortable: Abortable = {},
  ): Promise<number[][]> {
    return this.#inPortions(texts, (model, portion) => model.classifyOnce(portion, [...labels]), abortable);
  }

  async #inPortions(
    texts: readonly string[],
    ask: (model: NativeLinear, portion: string[]) => Float64Array | Promise<Float64Array>,
    abortable: Abortable,
  ): Promise<number[][]> {
    const model = await this.load();
    const slice = new TimeSlice(abortable.signal);
    const all: number[][] = [];
    for (let at = 0; at < texts.length; at += PORTION) {
      if (at > 0) await slice.next();
      const portion = texts.slice(at, at + PORTION);
      const numbers = await native(() => ask(model, portion), abortable);
      const labels = numbers.length / portion.length;
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

function test(model: NativeLinear, folder: string): Promise<void> {
  return selfTest(folder, folder, model, async (text) => {
    const probabilities = await native(() => model.classify([text]));
    const scores = Object.fromEntries(model.labels.map((label, index) => [label, probabilities[index] ?? Number.NaN]));
    return { scores: { default: scores }, spans: [] };
  });
}
