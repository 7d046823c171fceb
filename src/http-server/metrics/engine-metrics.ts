import { Gauge, Histogram, type Registry } from "prom-client";
import type { Engine } from "../../models/engine.ts";

const BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Measures the engine: the queues of its models, inference, and rule tasks. */
export class EngineMetrics {
  readonly #queued: Histogram;
  readonly #tokenized: Histogram;
  readonly #inferred: Histogram;

  /** @param engines returns the measured engines. */
  constructor(registry: Registry, engines: () => readonly Engine[]) {
    const registers = [registry];
    const seconds = (name: string, help: string) =>
      new Histogram({ name, help, registers, labelNames: ["model"], buckets: BUCKETS });
    this.#queued = seconds(
      "guard_queue_seconds",
      "Time that a text waited for threads before and between runs of a model.",
    );
    this.#tokenized = seconds("guard_tokenization_seconds", "Time that the tokenization of a text took.");
    this.#inferred = seconds("guard_inference_seconds", "Time that a text was in runs of a model.");
    new Gauge({
      name: "guard_queue_size",
      help: "Texts that wait for a model or are being processed by it.",
      labelNames: ["model"],
      registers,
      collect() {
        this.reset();
        for (const { pending } of engines()) {
          for (const [model, count] of Object.entries(pending)) this.inc({ model }, count);
        }
      },
    });
    new Gauge({
      name: "guard_rule_tasks",
      help: "Rule tasks on threads of the addon, by whether they wait or run.",
      labelNames: ["state"],
      registers,
      collect() {
        // All engines of a process share the threads for rules.
        const { waiting, running } = engines().at(-1)?.ruleTasks ?? { waiting: 0, running: 0 };
        this.set({ state: "waiting" }, waiting);
        this.set({ state: "running" }, running);
      },
    });
  }

  listenTo(engine: Engine): void {
    engine.onAnswer((model, timings) => {
      this.#queued.observe({ model }, timings.queued / 1000);
      this.#tokenized.observe({ model }, timings.tokenized / 1000);
      this.#inferred.observe({ model }, timings.inferred / 1000);
    });
  }
}
