import { isRecord } from "../../support/is-record.ts";
import { MAX_SAMPLES } from "./shadow.ts";

/** In the order of precedence. */
const STATES = ["failed", "loading", "running"];

/** Merges the summaries of the shadows of several processes; see `Shadow.summary`. */
export function mergeSummaries(summaries: readonly Record<string, unknown>[]): Record<string, unknown> {
  const merged = summaries.reduce((one, other) => addNumbers(one, other) as Record<string, unknown>);
  const samples = summaries.flatMap(({ samples }) => (Array.isArray(samples) ? samples : []));
  samples.sort((one, other) => (one.time < other.time ? -1 : 1));
  return {
    ...merged,
    state: STATES.find((state) => summaries.some((summary) => summary.state === state)),
    since: summaries.map(({ since }) => String(since)).sort()[0],
    share: summaries[0]?.share,
    ...(merged.samples === undefined ? {} : { samples: samples.slice(-MAX_SAMPLES) }),
  };
}

/** Adds the numbers of equal keys. Means are weighted by their number of texts. */
function addNumbers(one: unknown, other: unknown): unknown {
  if (typeof one === "number" && typeof other === "number") return one + other;
  if (!isRecord(one) || !isRecord(other)) return one ?? other;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const sums = Object.fromEntries(names.map((name) => [name, addNumbers(one[name], other[name])]));
  return "mean_score_difference" in sums ? { ...sums, mean_score_difference: mean([one, other]) } : sums;
}

function mean(agreements: readonly Record<string, unknown>[]): number | null {
  let [texts, sum] = [0, 0];
  for (const { both_pass, both_fail, newly_failing, newly_passing, mean_score_difference: difference } of agreements) {
    if (typeof difference !== "number") continue;
    const count = [both_pass, both_fail, newly_failing, newly_passing].reduce<number>((all, of) => all + Number(of), 0);
    texts += count;
    sum += difference * count;
  }
  return texts === 0 ? null : sum / texts;
}
