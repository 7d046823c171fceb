import { z } from "zod";
import type { TextReport } from "../../../guard/local-guard.ts";
import { Problem } from "../../../http-server/problem.ts";
import { MAX_FINDINGS } from "../../../scan/findings.ts";
import type { NamedScanner } from "../../../scan/named-scanners.ts";
import { resultName } from "../../../scan/report.ts";
import type { Finding, Side } from "../../../scan/scanner.ts";
import { NO_TAKER, takesRecognizers } from "../../../scanners/add-recognizers.ts";
import type { BuiltInScanner, PersonalDataTypes } from "../../../scanners/definition.ts";
import { type AdHocRecognizer, adHocRecognizers } from "../../../scanners/parts/ad-hoc-recognizers.ts";
import { GuardValidationError } from "../../../support/errors.ts";
import type { DialectCall } from "../dialect.ts";
import { AllowList } from "./allow-list.ts";
import { RequestedEntities } from "./entities.ts";

export const analyzeRequest = z.looseObject({
  text: z.union([z.string().min(1), z.array(z.string()).min(1)]).describe("A text, or several."),
  language: z
    .string()
    .nullish()
    .describe(
      "Recognizers of the request with another supported_language are skipped. guard reads texts in every language.",
    ),
  entities: z
    .array(z.string().min(1))
    .nullish()
    .describe("The entities to report. Default: all that the scanners look for."),
  score_threshold: z
    .number()
    .min(0)
    .max(1)
    .nullish()
    .describe("The least score of a result. Results below the threshold of the scanner are never reported."),
  ad_hoc_recognizers: adHocRecognizers.nullish().describe("Recognizers for this request."),
  return_decision_process: z
    .union([z.boolean(), z.literal([0, 1])])
    .nullish()
    .describe("Adds analysis_explanation."),
  allow_list: z.array(z.string().min(1)).nullish().describe("Values that are not reported."),
  allow_list_match: z
    .enum(["exact", "regex"])
    .nullish()
    .describe("Whether allow_list has whole values (default), or patterns that occur in them."),
  regex_flags: z
    .int()
    .nullish()
    .describe("The flags of these patterns, as in Python's re. Default: 26, for I, M and S."),
  correlation_id: z.string().nullish().describe("Ignored."),
  context: z.array(z.string()).nullish().describe("Ignored: context words are read from the text."),
});
type AnalyzeRequest = z.output<typeof analyzeRequest>;

/** How many characters before and after a cut both halves of a text contain, because words nearby can tell what a value is. */
const OVERLAP = 1000;

/** What the scanners found at one place. */
interface Result {
  entity_type: string;
  start: number;
  end: number;
  score: number;
  analysis_explanation: object | null;
  recognition_metadata?: { recognizer_name: string; recognizer_identifier: string };
}

/** The scanners of one side that look for personal data. */
export interface PersonalDataScanners {
  side: Side;
  names: string[];
  /** The names of the others. */
  others: string[];
  /** The types that they look for. */
  types: PersonalDataTypes;
}

/** Returns the input scanners that look for personal data, or the output scanners if there are none. */
export function personalDataScanners(
  scanners: Readonly<Record<Side, readonly NamedScanner[]>>,
): PersonalDataScanners | undefined {
  const isTaker = ({ scanner }: NamedScanner) => takesRecognizers(scanner);
  const side = (["input", "output"] as const).find((side) => scanners[side].some(isTaker));
  if (!side) return undefined;
  const takers = scanners[side].filter(isTaker);
  const types = takers.map(({ scanner }) => (scanner as Partial<BuiltInScanner>).personalDataTypes?.());
  return {
    side,
    names: takers.map(({ name }) => name),
    others: scanners[side].filter((item) => !isTaker(item)).map(({ name }) => name),
    types: {
      known: [...new Set(types.flatMap((type) => type?.known ?? []))].sort(),
      recognizers: types.flatMap((type) => type?.recognizers ?? []),
      hasOthers: types.some((type) => type?.hasOthers ?? true),
    },
  };
}

/**
 * Returns what looks for personal data: recognizers, models and patterns, each once.
 *
 * @param language leaves out those for other languages.
 */
export function recognizersOf(
  scanners: Readonly<Record<Side, readonly NamedScanner[]>>,
  language: string | undefined,
): PersonalDataTypes["recognizers"] {
  const all = personalDataScanners(scanners)?.types.recognizers ?? [];
  const speaks = ({ languages }: (typeof all)[number]) =>
    !language || languages.length === 0 || languages.some((known) => baseOf(known) === baseOf(language));
  return [...new Map(all.filter(speaks).map((recognizer) => [recognizer.id, recognizer])).values()];
}

/**
 * Returns the personal data of a text as Presidio's analyzer does, or a list of such results for a list of texts.
 *
 * @throws Problem 422 if no scanner looks for any of the entities.
 */
export async function analyze(request: AnalyzeRequest, call: DialectCall): Promise<Result[] | Result[][]> {
  const { text, entities, score_threshold: threshold, ad_hoc_recognizers: given, language } = request;
  const found = personalDataScanners(call.scanners);
  if (!found) throw new Problem(422, `${NO_TAKER} in this profile`);
  const recognizers = (given ?? []).filter(
    ({ supported_language: supported }) => !supported || !language || baseOf(supported) === baseOf(language),
  );
  const requested = new RequestedEntities(
    entities ?? [],
    recognizers.map(({ supported_entity }) => supported_entity),
  );
  if (requested.isUnknownTo(found.types)) {
    throw new Problem(422, "No matching recognizers were found to serve the request.");
  }
  const allowed = AllowList.of(request);
  const texts = typeof text === "string" ? [text] : text;
  const results: Result[][] = [];
  for (const findings of await checkOf(found, recognizers, requested.types, call)(texts)) {
    const kept: Result[] = [];
    for (const finding of findings) {
      const name = requested.nameOf(finding.label ?? "");
      if (name === undefined || finding.score < (threshold ?? 0) || (await allowed?.includes(finding))) continue;
      kept.push(resultOf(finding, name, Boolean(request.return_decision_process)));
    }
    results.push(kept);
  }
  return typeof text === "string" ? (results[0] as Result[]) : results;
}

function baseOf(language: string): string | undefined {
  return language.toLowerCase().split("-")[0];
}

/** Scans the texts, and lists the findings of each. */
type Check = (texts: readonly string[]) => Promise<Finding[][]>;

function checkOf(
  { side, names, others }: PersonalDataScanners,
  recognizers: readonly AdHocRecognizer[],
  types: readonly string[] | undefined,
  { begin }: DialectCall,
): Check {
  const personalData = { side, recognizers, explain: true, types };
  const guard = begin({ suppress: others, rewrite: false, personalData });
  const check: Check = async (texts) => {
    const reports: TextReport[] =
      side === "input" ? await guard.textReports(texts) : (await guard.answers(texts)).map(({ report }) => report);
    const results: Finding[][] = [];
    for (const [index, { checks, findings, coverage }] of reports.entries()) {
      if (coverage.failed.length > 0) throw new Problem(500, `The scanner ${coverage.failed[0]} failed.`);
      const isComplete = Object.keys(coverage.findingsOmitted).length === 0;
      // Clients mask what is listed, so findings of scanners that only monitor are not.
      const monitored = checks.filter(({ mode }) => mode === "monitor").map(resultName);
      const listing = names.filter((name) => !monitored.includes(name));
      const listed = withoutOverlaps(listing.flatMap((name) => findings[name] ?? []));
      results.push(isComplete ? listed : await findInHalves(texts[index] as string, check));
    }
    return results;
  };
  return check;
}

/** Finds the personal data of a text with more findings than a report lists. */
async function findInHalves(text: string, check: Check): Promise<Finding[]> {
  const characters = Array.from(text);
  if (characters.length < 4 * OVERLAP) {
    throw new GuardValidationError([{ path: "text", message: `has more than ${MAX_FINDINGS} values in a few lines` }]);
  }
  const cut = characters.length >> 1;
  const offset = cut - OVERLAP;
  const halves = [characters.slice(0, cut + OVERLAP), characters.slice(offset)].map((half) => half.join(""));
  const [before = [], after = []] = await check(halves);
  const moved = after.map((finding) => ({ ...finding, start: finding.start + offset, end: finding.end + offset }));
  return withoutOverlaps([...before.filter(({ start }) => start < cut), ...moved.filter(({ start }) => start >= cut)]);
}

/** Joins findings of several scanners that overlap, because clients replace each of them. */
function withoutOverlaps(findings: readonly Finding[]): Finding[] {
  const joined: Finding[] = [];
  for (const finding of findings.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1);
    if (!last || last.end <= finding.start) joined.push(finding);
    else if (last.end < finding.end) joined[joined.length - 1] = { ...last, end: finding.end };
  }
  return joined;
}

function resultOf({ start, end, score, explanation }: Finding, entity_type: string, isExplained: boolean): Result {
  const result: Result = { entity_type, start, end, score, analysis_explanation: null };
  if (!explanation) return result;
  const { by, id, pattern, context, check } = explanation;
  return {
    ...result,
    analysis_explanation: isExplained
      ? {
          recognizer: id,
          pattern_name: pattern ?? null,
          pattern: null,
          original_score: null,
          score,
          textual_explanation: null,
          score_context_improvement: null,
          supportive_context_word: context ?? "",
          validation_result: check?.passed ?? null,
        }
      : null,
    recognition_metadata: { recognizer_name: id, recognizer_identifier: `${by}:${id}` },
  };
}
