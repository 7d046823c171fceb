import type { Scanner, Side } from "../../scan/scanner.ts";
import { ORDINARY_PROMPTS } from "./ordinary-prompts.ts";

/** Thresholds that are tried in place of one with false alarms. Sentiment has negative ones. */
const THRESHOLDS = [-0.7, -0.5, -0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

/**
 * Tells how many ordinary prompts a scanner fails, and which threshold would pass them all.
 *
 * @param params the parameters of the scanner.
 * @param create creates the same scanner with other parameters.
 * @returns undefined if it fails none.
 */
export async function describeFalseAlarms(
  side: Side,
  scanner: Scanner,
  params: Readonly<Record<string, unknown>>,
  create: (params: Record<string, unknown>) => Scanner,
): Promise<string | undefined> {
  const failing = await failingPrompts(side, scanner);
  const [example] = [...failing].sort((a, b) => a.length - b.length);
  if (example === undefined) return;
  const share = `fails ${failing.length} of ${ORDINARY_PROMPTS.length} ordinary ${side === "input" ? "prompts" : "texts"}`;
  const text = `${share}, such as ${JSON.stringify(example)}`;
  const { threshold, ...withDefault } = params;
  if (typeof threshold !== "number") return text;
  if ((await failingPrompts(side, create(withDefault))).length === 0) {
    return `${text}. With its default threshold it fails none of them`;
  }
  const distance = (value: number) => Math.abs(value - threshold);
  for (const other of THRESHOLDS.toSorted((a, b) => distance(a) - distance(b))) {
    // A positive threshold is that of a probability, which Sentiment does not have.
    if (other < 0 !== threshold <= 0) continue;
    if ((await failingPrompts(side, create({ ...params, threshold: other }))).length > 0) continue;
    return `${text}. With threshold: ${other} it fails none of them`;
  }
  return text;
}

async function failingPrompts(side: Side, scanner: Scanner): Promise<string[]> {
  await scanner.load?.();
  const failing: string[] = [];
  for (const text of ORDINARY_PROMPTS) {
    const { isValid } = await scanner.scan(text, side === "output" ? { prompt: "" } : {});
    if (!isValid) failing.push(text);
  }
  return failing;
}
