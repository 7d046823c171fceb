import type { ShadowSettings } from "../../config/index.ts";
import type { Side } from "../../scan/scanner.ts";
import { Vault } from "../../scan/vault.ts";
import { type ComparedReport, type Difference, Tally } from "../../service/comparison.ts";
import type { ScanService } from "../../service/service.ts";
import { errorKind, GuardError } from "../../support/errors.ts";
import { countCharacters } from "../callers/characters.ts";
import type { Decision } from "../decisions/decisions.ts";
import { IdleQueue, type IdleQueueOptions, type IdleSlot } from "./idle-queue.ts";
import { SHADOW_RESULTS, type ShadowResult } from "./results.ts";

/** Limits of queued scans. */
const MAX_TASKS = 256;
const MAX_QUEUED_CHARS = 4 * 1024 * 1024;
/** How many samples are kept. */
export const MAX_SAMPLES = 20;
/** Longer texts are not kept in samples. */
const MAX_SAMPLE_CHARS = 10_000;

export interface ShadowOptions {
  settings: ShadowSettings;
  /** The services of the second configuration by profile. */
  services: ReadonlyMap<string, ScanService>;
  /** See {@link IdleQueueOptions}. */
  isIdle(): boolean;
  isBusy(): boolean;
  /** Whether samples with their texts are kept. */
  keepsTexts: boolean;
  setInterval?: IdleQueueOptions["setInterval"];
}

export interface ShadowListener {
  onResult(result: ShadowResult): void;
  onDifference(side: Side, difference: Difference): void;
  /** Called for the first error after a successful scan. */
  onFailure(kind: string): void;
}

/** A scan with different verdicts. */
interface Sample {
  /** The credential of the request. Other callers must not read the sample. */
  caller: string | undefined;
  fields: Record<string, unknown>;
}

/**
 * Scans a sample of the requests again with a second configuration, and counts differing verdicts. It runs after the responses, while the
 * server is idle, and its errors do not affect requests. Each scan has a vault of its own, which is discarded, and texts are kept only
 * until they are compared.
 */
export class Shadow {
  readonly #options: ShadowOptions;
  readonly #queue: IdleQueue;
  readonly #since = new Date();
  readonly #results = Object.fromEntries(SHADOW_RESULTS.map((result) => [result, 0])) as Record<ShadowResult, number>;
  readonly #tallies: Record<Side, Tally> = { input: new Tally(), output: new Tally() };
  readonly #samples: Sample[] = [];
  readonly #listeners: ShadowListener[] = [];
  #state: "loading" | "running" | "failed" = "loading";
  #isFailing = false;

  constructor(options: ShadowOptions) {
    const { settings, isIdle, isBusy, setInterval } = options;
    this.#options = options;
    this.#queue = new IdleQueue({
      isIdle,
      isBusy,
      maxRunning: settings.maxConcurrent,
      maxTasks: MAX_TASKS,
      maxChars: MAX_QUEUED_CHARS,
      ...(setInterval ? { setInterval } : {}),
    });
  }

  listen(listener: ShadowListener): void {
    this.#listeners.push(listener);
  }

  /** The services of the second configuration. */
  get services(): ScanService[] {
    return [...this.#options.services.values()];
  }

  /**
   * Loads the models of the second configuration. Scans are dropped until then, and forever if it fails.
   *
   * @throws GuardError `GUARD_SCANNER`.
   */
  async load(): Promise<void> {
    try {
      for (const service of this.#options.services.values()) await service.load();
      this.#state = "running";
    } catch (error) {
      this.#state = "failed";
      throw error;
    }
  }

  /**
   * Decides whether a scan is sampled.
   *
   * @returns a slot to enqueue after the response, if it is.
   */
  sample(decision: Decision): IdleSlot | undefined {
    const { settings, services, keepsTexts } = this.#options;
    if (Math.random() >= settings.share) return undefined;
    const { request, profile, side, report, options, rescan } = decision;
    const service = services.get(profile.name);
    if (!rescan || !service) return this.#count("not_compared");
    if (this.#state !== "running") return this.#count("dropped");
    const content = decision.content();
    const { isValid, outcome, resultsValid, resultsScore } = report;
    const main = { isValid, outcome, resultsValid, resultsScore };
    const caller = request.credential?.id;
    const chars = countCharacters(content);
    const fields = {
      ...{ request: request.id, profile: profile.name, side },
      ...(keepsTexts && chars <= MAX_SAMPLE_CHARS ? { content } : {}),
    };
    const slot = this.#queue.reserve({
      chars,
      onDropped: () => this.#count("dropped"),
      run: async (signal) => {
        const { suppress, rewrite } = options;
        let other: ComparedReport;
        try {
          other = await rescan(service, { suppress, rewrite, offsets: "utf16", vault: new Vault(), signal, caller });
        } catch (error) {
          // A dropped scan is counted already.
          if (!signal.aborted) this.#onError(error);
          return;
        }
        if (signal.aborted) return;
        this.#isFailing = false;
        const difference = this.#tallies[side].add(main, other);
        this.#count(difference.isSame ? "same" : "differs");
        if (difference.isSame) return;
        for (const listener of this.#listeners) listener.onDifference(side, difference);
        if (keepsTexts) this.#keep({ caller, fields: { ...comparisonFields(main, other, difference), ...fields } });
      },
    });
    return slot ?? this.#count("dropped");
  }

  /**
   * Returns the results so far.
   *
   * @param caller sees the samples of its own requests only.
   */
  summary(caller: string | undefined): Record<string, unknown> {
    const { settings, keepsTexts } = this.#options;
    const tallies = Object.values(this.#tallies);
    const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0);
    return {
      state: this.#state,
      since: this.#since.toISOString(),
      share: settings.share,
      waiting: this.#queue.size,
      scans: { ...this.#results },
      newly_failing: sum(({ newlyFailing }) => newlyFailing),
      newly_passing: sum(({ newlyPassing }) => newlyPassing),
      scanners: Object.fromEntries(
        Object.entries(this.#tallies).map(([side, { scanners }]) => [
          side,
          Object.fromEntries(
            Object.entries(scanners).map(([name, { bothPass, bothFail, ...agreement }]) => [
              name,
              {
                both_pass: bothPass,
                both_fail: bothFail,
                newly_failing: agreement.newlyFailing,
                newly_passing: agreement.newlyPassing,
                only_main: agreement.onlyFirst,
                only_shadow: agreement.onlySecond,
                mean_score_difference: agreement.meanScoreDifference,
              },
            ]),
          ),
        ]),
      ),
      ...(keepsTexts
        ? { samples: this.#samples.filter((sample) => sample.caller === caller).map(({ fields }) => fields) }
        : {}),
    };
  }

  /** Drops all scans, and frees the scanners. */
  async close(): Promise<void> {
    this.#queue.close();
    await Promise.all([...this.#options.services.values()].map((service) => service.close()));
  }

  #onError(error: unknown): void {
    // Dropped scans may run on for a while, and count in the admission control.
    if (error instanceof GuardError && error.code === "GUARD_OVERLOADED") {
      this.#count("dropped");
      return;
    }
    this.#count("failed");
    if (!this.#isFailing) for (const listener of this.#listeners) listener.onFailure(errorKind(error));
    this.#isFailing = true;
  }

  #count(result: ShadowResult): undefined {
    this.#results[result] += 1;
    for (const listener of this.#listeners) listener.onResult(result);
  }

  #keep(sample: Sample): void {
    this.#samples.push(sample);
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
  }
}

/** Returns both verdicts, with the scores of the scanners that differ. */
function comparisonFields(
  main: ComparedReport,
  shadow: ComparedReport,
  { scanners }: Difference,
): Record<string, unknown> {
  const scoresOf = ({ resultsScore }: ComparedReport) =>
    Object.fromEntries(
      [...scanners.keys()].flatMap((name) => (name in resultsScore ? [[name, resultsScore[name]]] : [])),
    );
  const verdictOf = (judged: ComparedReport) => ({
    ...{ is_valid: judged.isValid, outcome: judged.outcome },
    scanners: scoresOf(judged),
  });
  return { time: new Date().toISOString(), main: verdictOf(main), shadow: verdictOf(shadow) };
}
