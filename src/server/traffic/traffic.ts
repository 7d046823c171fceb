import { fails, type Scope } from "../../scan/check-result.ts";
import { checksInReview, failingChecks } from "../../scan/report.ts";
import type { Source } from "../../scan/source.ts";
import type { Decision } from "../decisions/decisions.ts";
import { add, addCounts, type Counts, countsIn, emptyCounts } from "./counts.ts";

/** The number of minutes that are kept. */
export const KEPT_MINUTES = 180;
/** The number of decisions that are listed. */
const LISTED_DECISIONS = 50;
/** Longer texts of a listed decision are cut, so that 50 of them stay small. In UTF-16 code units. */
const MAX_TEXT = 2000;
const MINUTE_MS = 60_000;
/** The name of callers on a server without credentials. */
const ANYBODY = "anybody";

/** A decision in the list of the latest ones. */
export interface ListedDecision {
  /** The id of the request. */
  request: string;
  /** When it was made, in milliseconds since 1970. */
  time: number;
  route: string;
  credential: string;
  profile: string;
  side: string;
  outcome: string;
  /** The checks that failed. */
  failed: string[];
  /** The checks that ask for the review of a person. */
  in_review?: string[];
  /** The checks that only monitor, and would have blocked or masked. */
  would_fail?: string[];
  /** The scanned texts, if they are logged too. */
  content?: Record<string, unknown>;
}

/** The counts of one process, or of several that were merged. All of it is JSON. */
export interface TrafficCounts {
  /** When counting started, in milliseconds since 1970. */
  since: number;
  /** Outcomes by minute since 1970. */
  minutes: Counts;
  /** Sums over these minutes: `scanners`, `sources`, `credentials`, `profiles` and `errors`. */
  sums: Counts;
  /** The latest decisions, oldest first. */
  decisions: ListedDecision[];
}

/** The counts of one minute. */
export interface CountedMinute {
  /** Minutes since 1970. */
  number: number;
  /** How often the counts have changed. */
  changes: number;
  outcomes: Counts;
  sums: Counts;
}

/**
 * Counts decisions by minute for the console, in the memory of the process: 180 minutes, and a list of the latest decisions. Names are those
 * of the configuration, so the memory is bounded.
 */
export class Traffic {
  readonly #since = Date.now();
  readonly #minutes: CountedMinute[] = [];
  readonly #decisions: { credentialId: string | undefined; listed: ListedDecision }[] = [];

  /** The minutes with counts, oldest first. */
  get keptMinutes(): readonly CountedMinute[] {
    const first = currentMinute() - KEPT_MINUTES + 1;
    return this.#minutes.filter(({ number }) => number >= first);
  }

  /** @param keepsTexts whether the list of decisions has the scanned texts. */
  countDecision(decision: Decision, keepsTexts: boolean): void {
    const { request, profile, report, side, cache, textSource } = decision;
    const { outcomes, sums } = this.#change();
    const credential = request.credential?.name ?? ANYBODY;
    const ofCredential = countsIn(countsIn(sums, "credentials"), credential);
    const ofProfile = countsIn(countsIn(sums, "profiles"), profile.name);
    for (const counts of [outcomes, ofCredential, ofProfile]) {
      add(counts, report.outcome);
      // These scans have an outcome too, so they must not be added to the sum.
      if (report.wouldBlock) add(counts, "would_block");
      else if (report.wouldMask) add(counts, "would_mask");
    }
    const scanners = countsIn(countsIn(sums, "scanners"), side);
    // A cached result was computed, and its time counted, for another request.
    const isComputed = cache !== "hit" && cache !== "shared";
    /** Whether all checks of a source passed. */
    const sources = new Map<string, boolean>();
    for (const check of report.checks) {
      const counts = countsIn(scanners, check.scanner);
      if (check.excepted) add(counts, "excepted");
      const isFailed = fails(check);
      add(counts, check.isValid || isFailed ? verdictName(!isFailed) : "would_fail");
      if (isComputed) add(counts, "ms", check.timing);
      const source = sourceOf(check.scope, textSource);
      sources.set(source, !isFailed && (sources.get(source) ?? true));
    }
    for (const [source, isValid] of sources) add(countsIn(countsIn(sums, "sources"), source), verdictName(isValid));
    this.#list(decision, credential, keepsTexts);
  }

  /** Counts a request that got an error instead of a decision. */
  countError(status: number): void {
    add(countsIn(this.#change().sums, "errors"), String(status));
  }

  /**
   * Returns the counts of the last minutes, with the current one.
   *
   * @param credentialId only decisions of this credential have their texts.
   */
  counts(minutes: number, credentialId: string | undefined): TrafficCounts {
    const first = currentMinute() - minutes + 1;
    const counts: TrafficCounts = { since: this.#since, minutes: emptyCounts(), sums: emptyCounts(), decisions: [] };
    for (const { number, outcomes, sums } of this.#minutes) {
      if (number < first) continue;
      counts.minutes[number] = outcomes;
      addCounts(counts.sums, sums);
    }
    counts.decisions = this.#decisions.map(({ credentialId: id, listed }) => {
      const { content, ...rest } = listed;
      return content && id === credentialId ? listed : rest;
    });
    return counts;
  }

  /** Returns the current minute, whose counts the caller changes at once. */
  #change(): CountedMinute {
    const number = currentMinute();
    const last = this.#minutes.at(-1);
    // A clock that is set back must not make a second entry of the same minute.
    if (last && last.number >= number) {
      last.changes += 1;
      return last;
    }
    const minute = { number, changes: 1, outcomes: emptyCounts(), sums: emptyCounts() };
    this.#minutes.push(minute);
    if (this.#minutes.length > KEPT_MINUTES) this.#minutes.shift();
    return minute;
  }

  #list({ request, profile, side, report, content }: Decision, credential: string, keepsTexts: boolean): void {
    const inReview = checksInReview(report);
    const would = [...(report.wouldBlock ?? []), ...(report.wouldMask ?? [])];
    const listed: ListedDecision = {
      request: request.id,
      time: Date.now(),
      route: request.routeOptions.url ?? "",
      credential,
      profile: profile.name,
      side,
      outcome: report.outcome,
      failed: failingChecks(report),
      ...(inReview.length > 0 ? { in_review: inReview } : {}),
      ...(would.length > 0 ? { would_fail: would } : {}),
      ...(keepsTexts ? { content: shortened(content()) } : {}),
    };
    this.#decisions.push({ credentialId: request.credential?.id, listed });
    if (this.#decisions.length > LISTED_DECISIONS) this.#decisions.shift();
  }
}

/** Merges the counts of several processes. */
export function mergeTraffic(counts: readonly TrafficCounts[]): TrafficCounts {
  const merged: TrafficCounts = {
    since: Math.min(Date.now(), ...counts.map(({ since }) => since)),
    minutes: emptyCounts(),
    sums: emptyCounts(),
    decisions: counts.flatMap(({ decisions }) => decisions),
  };
  for (const { minutes, sums } of counts) {
    addCounts(merged.minutes, minutes);
    addCounts(merged.sums, sums);
  }
  merged.decisions.sort((one, other) => one.time - other.time);
  merged.decisions.splice(0, merged.decisions.length - LISTED_DECISIONS);
  return merged;
}

/** Returns the start of each of the last minutes with its outcomes, oldest first. Minutes without decisions are included. */
export function minutesOf(
  { minutes }: Pick<TrafficCounts, "minutes">,
  length: number,
): { time: string; outcomes: Counts }[] {
  const now = currentMinute();
  return Array.from({ length }, (_, index) => {
    const number = now - length + 1 + index;
    return {
      time: new Date(number * MINUTE_MS).toISOString(),
      outcomes: (minutes[number] as Counts | undefined) ?? {},
    };
  });
}

function verdictName(isValid: boolean): string {
  return isValid ? "passed" : "failed";
}

/** Minutes since 1970. */
export function currentMinute(): number {
  return Math.floor(Date.now() / MINUTE_MS);
}

/** The source of the texts of a check. In a conversation, `latest` and `window` are messages of the user. */
function sourceOf(scope: Scope, textSource: Source = "user"): string {
  return scope === "latest" || scope === "window" ? textSource : scope;
}

/** Cuts the strings of some content. */
function shortened(value: unknown): Record<string, unknown> {
  const cut = (item: unknown): unknown => {
    if (typeof item === "string") return item.length > MAX_TEXT ? `${item.slice(0, MAX_TEXT)}…` : item;
    if (Array.isArray(item)) return item.slice(0, LISTED_DECISIONS).map(cut);
    if (typeof item !== "object" || item === null) return item;
    return Object.fromEntries(Object.entries(item).map(([key, inner]) => [key, cut(inner)]));
  };
  return cut(value) as Record<string, unknown>;
}
