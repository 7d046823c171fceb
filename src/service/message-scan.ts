import pLimit from "p-limit";
import { editedStrings, stringsOf } from "../conversation/edited-strings.ts";
import { maskText, type PartVerdict, partVerdict } from "../documents/masking.ts";
import { isInReview, isValid, scopeOf } from "../scan/check-result.ts";
import type { MessageText } from "../scan/conversation-text.ts";
import type { NamedScanner } from "../scan/named-scanners.ts";
import { type Outcome, replacesValues } from "../scan/outcome.ts";
import { reportOf, type ScanReport } from "../scan/report.ts";
import type { RunOptions } from "../scan/scan-options.ts";
import { scanText, type TextResult } from "../scan/text-scan.ts";
import type { Decision } from "./decision.ts";
import type { ServiceReport } from "./service-types.ts";

/** The maximum number of parts that are judged concurrently. A higher number would only fill the queues of models. */
const PARALLEL = 8;

/** Options of the scan of one text of a conversation. */
export interface MessageScan {
  /** The texts that scanners may compare with, in order. The scanned text is appended unless it is among them. */
  texts: readonly MessageText[];
  /** Whether findings and attacks are removed from a text that fails, so that the rest can be used. */
  mask: boolean;
}

/** Runs scanners over a text of the conversation. */
type RunScanners = (scanners: readonly NamedScanner[], text: string, rewrite: boolean) => Promise<TextResult>;

/**
 * Scans one text of a conversation.
 *
 * @param decide decides about the text before masking.
 * @returns the report, with the sanitized strings of the text.
 */
export async function scanMessage(
  text: MessageText,
  scanners: readonly NamedScanner[],
  { texts, mask }: MessageScan,
  options: RunOptions,
  decide: (report: ScanReport) => Decision,
): Promise<ServiceReport> {
  const conversation = { texts: texts.includes(text) ? texts : [...texts, text], current: text };
  const scope = scopeOf(text.source);
  const run: RunScanners = (list, input, rewrite) => {
    const context = { source: text.source, conversation };
    return scanText(list, input, context, Object.assign({}, options, { scope, rewrite }));
  };
  const { text: sanitized, edits, engineTiming, ...result } = await run(scanners, text.text, options.rewrite ?? true);
  result.coverage.partsSkipped += text.skipped;
  const report = reportOf(result, engineTiming);
  const decision = decide(report);
  const strings = edits.length > 0 ? editedStrings(text, edits) : undefined;
  const scanned = Object.assign({ text: sanitized, edits }, report, decision, strings && { strings });
  if (!mask || decision.outcome !== "blocked" || report.isValid) return scanned;
  // If a check threw, nobody knows what to remove.
  if (result.checks.some(({ outcome }) => outcome === "error")) return scanned;
  const masked = await removeAttacks(strings ?? stringsOf(text), scanners, run, options);
  const outcome: Outcome = (await passesMasked(masked, scanners, run)) ? "masked" : "blocked";
  return Object.assign(scanned, { outcome }, outcome === "masked" ? { strings: masked } : {});
}

/**
 * Cuts statements that are attacks out of strings. Each string is judged alone, so an attack that spans several strings stays. The
 * check of the masked strings then fails.
 */
async function removeAttacks(
  strings: readonly string[],
  scanners: readonly NamedScanner[],
  run: RunScanners,
  options: RunOptions,
): Promise<string[]> {
  const detecting = scanners.filter(({ scanner }) => scanner.detect !== undefined);
  const known = new Map<string, Promise<PartVerdict>>();
  const limit = pLimit(PARALLEL);
  const judge = (part: string) => {
    const judged = known.get(part) ?? limit(async () => partVerdict(await run(detecting, part, false), part));
    known.set(part, judged);
    return judged;
  };
  return Promise.all(
    strings.map(async (string) => {
      const judged = await judge(string);
      return judged.isValid ? string : (await maskText(string, judge, judged, options)).text;
    }),
  );
}

/** Tells whether masked strings pass all checks. Scanners that insert placeholders are skipped: a placeholder may look like a value. */
async function passesMasked(
  strings: readonly string[],
  scanners: readonly NamedScanner[],
  run: RunScanners,
): Promise<boolean> {
  // If nothing is left, an agent learns more from a blocked text and its reason than from an empty text.
  if (strings.every((string) => string.trim() === "")) return false;
  const checking = scanners.filter(({ scanner }) => !replacesValues(scanner));
  const result = await run(checking, strings.join("\n"), false);
  return isValid(result) && !result.checks.some(isInReview);
}
