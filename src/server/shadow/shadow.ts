import type { ShadowSettings } from "../../config/index.ts";
import type { Side } from "../../scan/scanner.ts";
import { Vault } from "../../scan/vault.ts";
import { type Difference, type Judged, Tally } from "../../service/comparison.ts";
import type { ScanService } from "../../service/service.ts";
import { errorKind, GuardError } from "../../support/errors.ts";
import { charactersOf } from "../callers/characters.ts";
import type { Decision } from "../decisions/decisions.ts";
import { type IdlePlace, IdleQueue, type IdleQueueOptions } from "./idle-queue.ts";
import { SHADOW_RESULTS, type ShadowResult } from "./results.ts";

/** The most scans that wait for the shadow, and the most characters of texts that they hold. */
const MOST_WAITING = 256;
const MOST_CHARS = 4 * 1024 * 1024;
/** The most samples that are kept, and the most characters of one. */
const MOST_SAMPLES = 20;
const SAMPLE_CHARS = 10_000;

/** What a shadow is made of. */
export interface ShadowOptions {
  settings: ShadowSettings;
  /** The services of the second configuration, by the names of its profiles. */
  services: ReadonlyMap<string, ScanService>;
  /** Whether the requests of the server leave the machine alone, so that a scan may begin. */
  isIdle(): boolean;
  /** Whether they need it so much that scans which run are given up. */
  isBusy(): boolean;
  /** Whether samples with their texts are kept. */
  keepsTexts: boolean;
  repeat?: IdleQueueOptions["repeat"];
}

/** Who is told what becomes of scans. */
export interface ShadowListener {
  onResult(result: ShadowResult): void;
  onDifference(side: Side, difference: Difference): void;
  /** Is told of the first error after a scan that went well. */
  onFailure(kind: string): void;
}

/** A scan about which the configurations differ. */
interface Sample {
  /** The credential whose request it was. Others must not read its text. */
  caller: string | undefined;
  shown: Record<string, unknown>;
}

/**
 * Judges a share of what the server has judged with a second configuration, and counts where the verdicts differ. It works in idle moments
 * and after the answers, so that no request waits for it, and nothing that goes wrong in it reaches one. Each scan has a vault of its own,
 * which is thrown away, and texts are kept only until they are compared.
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
    const { settings, isIdle, isBusy, repeat } = options;
    this.#options = options;
    this.#queue = new IdleQueue({
      isIdle,
      isBusy,
      maxRunning: settings.maxConcurrent,
      maxWaiting: MOST_WAITING,
      maxChars: MOST_CHARS,
      ...(repeat ? { repeat } : {}),
    });
  }

  listen(listener: ShadowListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Loads the models of the second configuration. Until then, and for good when it fails, scans are dropped.
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
   * Chooses whether a decision is compared.
   *
   * @returns a place whose work begins when the answer is out; undefined where there is nothing to do.
   */
  choose(decision: Decision): IdlePlace | undefined {
    const { settings, services, keepsTexts } = this.#options;
    if (Math.random() >= settings.share) return undefined;
    const { request, profile, side, report, asked, again } = decision;
    const service = services.get(profile.name);
    if (!again || !service) return this.#count("not_compared");
    if (this.#state !== "running") return this.#count("dropped");
    const content = decision.content();
    const { isValid, outcome, resultsValid, resultsScore } = report;
    const judged = { isValid, outcome, resultsValid, resultsScore };
    const caller = request.credential?.id;
    const about = { request: request.id, profile: profile.name, side };
    const chars = charactersOf(content);
    const kept = keepsTexts && chars <= SAMPLE_CHARS ? { content } : {};
    const place = this.#queue.take({
      chars,
      drop: () => this.#count("dropped"),
      run: async (signal) => {
        const { suppress, rewrite } = asked;
        let other: Judged;
        try {
          other = await again(service, { suppress, rewrite, offsets: "utf16", vault: new Vault(), signal, caller });
        } catch (error) {
          // It was given up, and counted then.
          if (!signal.aborted) this.#fail(error);
          return;
        }
        if (signal.aborted) return;
        this.#isFailing = false;
        const difference = this.#tallies[side].add(judged, other);
        this.#count(difference.isSame ? "same" : "differs");
        if (difference.isSame) return;
        for (const listener of this.#listeners) listener.onDifference(side, difference);
        if (keepsTexts) this.#keep({ caller, shown: { ...about, ...sampleOf(judged, other, difference), ...kept } });
      },
    });
    return place ?? this.#count("dropped");
  }

  /**
   * What there is to tell so far.
   *
   * @param caller the credential that asks, which sees samples of its own requests only.
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
        ? { samples: this.#samples.filter((sample) => sample.caller === caller).map(({ shown }) => shown) }
        : {}),
    };
  }

  /** Drops what waits, ends what runs, and frees the scanners. */
  async close(): Promise<void> {
    this.#queue.close();
    await Promise.all([...this.#options.services.values()].map((service) => service.close()));
  }

  #fail(error: unknown): void {
    // Work that was given up may go on for a while, and holds its place.
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
    if (this.#samples.length > MOST_SAMPLES) this.#samples.shift();
  }
}

/** What is told of a difference: both verdicts, and the scores of the scanners that differ. */
function sampleOf(main: Judged, shadow: Judged, { scanners }: Difference): Record<string, unknown> {
  const scoresOf = ({ resultsScore }: Judged) =>
    Object.fromEntries(
      [...scanners.keys()].flatMap((name) => (name in resultsScore ? [[name, resultsScore[name]]] : [])),
    );
  const shown = (judged: Judged) => ({ is_valid: judged.isValid, outcome: judged.outcome, scanners: scoresOf(judged) });
  return { time: new Date().toISOString(), main: shown(main), shadow: shown(shadow) };
}
