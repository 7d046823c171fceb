import { isRecord } from "../../support/is-record.ts";
import { upstreamError } from "../errors.ts";
import type { AnswerPart, CallSlot, Json, TextSlot } from "../format.ts";
import { callSlotAt, findLongTexts, findSlotsAt, findUnknownTexts, parseNames, slotAt, watchSlot } from "../slots.ts";
import { recordsOf } from "./openai-chat-parts.ts";

/** Fields of an answer with ids, words and numbers. */
const BODY_NAMES = parseNames("modelVersion modelStatus responseId createTime usageMetadata promptFeedback");
const BODY_FIELDS: ReadonlySet<string> = new Set([...BODY_NAMES, "candidates", "error"]);

/** Fields of a candidate with words and numbers. */
const CANDIDATE_NAMES = parseNames("finishReason index safetyRatings urlContextMetadata avgLogprobs tokenCount");

/** Fields of a candidate with sources. They are complete even in streams. */
const SOURCE_FIELDS = ["citationMetadata", "groundingMetadata", "groundingAttributions"];
const CANDIDATE_FIELDS: ReadonlySet<string> = new Set([
  ...CANDIDATE_NAMES,
  ...SOURCE_FIELDS,
  "content",
  "logprobsResult",
]);

const CONTENT_FIELDS: ReadonlySet<string> = new Set(["parts"]);

/** Fields of sources that only a program of Google can read. */
const TOKENS: ReadonlySet<string> = new Set(["sdkBlob", "googleMapsWidgetContextToken"]);

/**
 * Reads the candidates of an answer. A blocked prompt has none, and neither has the last event of some streams.
 *
 * @throws GuardError `GUARD_UPSTREAM` if the body is not an answer.
 */
export function readCandidates(body: Json): Json[] {
  const { candidates, error, promptFeedback, usageMetadata } = body;
  if (!candidates && ![error, promptFeedback, usageMetadata].some(isRecord)) {
    throw upstreamError("The answer has no candidates.");
  }
  return recordsOf(candidates, "The candidates of the answer are not a list of objects.");
}

/**
 * Reads the parts of a candidate.
 *
 * @throws GuardError `GUARD_UPSTREAM` if they have another shape.
 */
export function readParts({ content }: Json): Json[] {
  if (content === undefined || content === null) return [];
  if (!isRecord(content)) throw upstreamError("The content of a candidate is not an object.");
  return recordsOf(content.parts, "The parts of a candidate are not a list of objects.");
}

/** Reads the texts of a candidate: the answer with the function calls, thoughts, and each other field separately. */
export function readCandidateParts(candidate: Json): AnswerPart[] {
  const texts: TextSlot[] = [];
  const thoughts: TextSlot[] = [];
  const calls: CallSlot[] = [];
  const extras: AnswerPart[] = [];
  for (const part of readParts(candidate)) {
    const slots = slotAt(part, "text").map((slot) => watchSlot(slot, () => clearLogprobs(candidate)));
    (part.thought ? thoughts : texts).push(...slots);
    calls.push(...readPartCalls(part));
    extras.push(readPartExtras(part));
  }
  return [{ texts, calls }, { texts: thoughts }, ...extras, ...readCandidateExtras(candidate)];
}

/** Removes the tokens of a text, because they are those of the original or reveal what is held back. */
export function clearLogprobs(candidate: Json): void {
  delete candidate.logprobsResult;
}

/** The keys of a part with a function call, in camel case and in snake case. */
const CALL_KEYS = ["functionCall", "function_call"];
const CODE_KEYS = ["executableCode", "executable_code"];
const CODE_RESULT_KEYS = ["codeExecutionResult", "code_execution_result"];

/** Fields of a part with a reader of their own, or for programs. */
const PART_FIELDS: ReadonlySet<string> = new Set([
  ...["text", "thought", "thoughtSignature", "thought_signature"],
  ...[...CALL_KEYS, ...CODE_KEYS, ...CODE_RESULT_KEYS],
]);
const CALL_FIELDS = parseNames("name args");
const CODE_FIELDS = parseNames("code language");
const CODE_RESULT_FIELDS = parseNames("output outcome");

/** Fields of a part, and of the objects in it, with words and encrypted values. */
const PART_NAMES = parseNames("thought thoughtSignature thought_signature language outcome");

/** @throws GuardError `GUARD_UPSTREAM` for a value of another type. */
function recordsAt(part: Json, keys: readonly string[]): Json[] {
  const values = keys.map((key) => part[key]).filter((value) => value !== undefined && value !== null);
  return recordsOf(values, "A part of the answer has a field of another shape.");
}

/**
 * Reads the function call of a part, or the code that the model wrote.
 *
 * @throws GuardError `GUARD_UPSTREAM` if only pieces of the arguments are there.
 */
export function readPartCalls(part: Json): CallSlot[] {
  const called = recordsAt(part, CALL_KEYS);
  if (called.some(({ partialArgs, willContinue }) => partialArgs !== undefined || willContinue === true)) {
    throw upstreamError(
      "guard cannot check arguments of function calls in pieces: turn streamFunctionCallArguments off.",
    );
  }
  return [
    ...called.flatMap((call) => callSlotAt(call, "args", call.name, call.id)),
    ...recordsAt(part, CODE_KEYS).flatMap((code) => callSlotAt(code, "code", "code_execution", undefined)),
  ];
}

/** Reads the texts of a part beside the answer: results of code, results of functions, and unknown fields. */
export function readPartExtras(part: Json): AnswerPart {
  const texts = [
    ...recordsAt(part, CALL_KEYS).flatMap((call) => findUnknownTexts(call, CALL_FIELDS)),
    ...recordsAt(part, CODE_KEYS).flatMap((code) => [
      ...findUnknownTexts(code, CODE_FIELDS),
      ...findLongTexts(code, PART_NAMES),
    ]),
    ...recordsAt(part, CODE_RESULT_KEYS).flatMap((result) => [
      ...slotAt(result, "output"),
      ...findUnknownTexts(result, CODE_RESULT_FIELDS),
      ...findLongTexts(result, PART_NAMES),
    ]),
    ...(typeof part.text === "string" ? [] : findSlotsAt(part, "text")),
    ...findUnknownTexts(part, PART_FIELDS),
    ...findLongTexts(part, PART_NAMES),
  ];
  return { texts, separator: "\n" };
}

/** Reads the texts of a candidate beside its content: sources, and unknown fields. */
export function readCandidateExtras(candidate: Json): AnswerPart[] {
  const sources = SOURCE_FIELDS.map((key) => ({ texts: findSlotsAt(candidate, key, TOKENS), separator: "\n" }));
  const others = [
    ...findUnknownTexts(candidate, CANDIDATE_FIELDS),
    ...findLongTexts(candidate, CANDIDATE_NAMES),
    ...(isRecord(candidate.content) ? findUnknownTexts(candidate.content, CONTENT_FIELDS) : []),
  ];
  return [...sources, { texts: others, separator: "\n" }];
}

/** Whether a candidate has sources or unknown fields. */
export function hasExtras(candidate: Json): boolean {
  return Object.keys(candidate).some((key) => key !== "content" && !CANDIDATE_NAMES.has(key));
}

/** Reads the texts of an answer, or of an event, beside its candidates. */
export function readBodyExtras(body: Json): AnswerPart {
  return { texts: [...findUnknownTexts(body, BODY_FIELDS), ...findLongTexts(body, BODY_NAMES)], separator: "\n" };
}
