import { z } from "zod";
import { didYouMean } from "./did-you-mean.ts";

/** Plain words for zod's names of types. */
const KINDS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  bigint: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  map: "an object",
  null: "null",
  undefined: "nothing",
  function: "a function",
  date: "a date",
};

/** Describes the kind of a value without quoting it, because it may be a secret. */
export function describeKind(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  if (typeof value === "boolean") return String(value);
  return KINDS[typeof value] ?? `a ${typeof value}`;
}

/** A text that can only be meant as a number or a boolean, such as `"5"` or `"yes"`. */
const PLAIN_TEXT = /^(?:[+-]?\d{1,9}(?:\.\d{1,9})?|true|false|yes|no|on|off|maybe|none|null)$/i;

/** A text without digits, like names of settings. API keys and tokens contain digits, so they do not match. */
const WORD = /^[A-Za-z][A-Za-z_ -]{0,31}$/;

/**
 * Describes the given value. It is quoted only if it cannot be a secret. If a text is expected, nothing is quoted, because the value may
 * be a password (`token: 12345`). If a number is expected, only a text that looks like a number is quoted.
 */
function describeGiven(value: unknown, expected: string): string {
  if (expected === "a text") return describeKind(value).replace(/^(?:true|false)$/, "true or false");
  if (typeof value === "number") return String(value);
  if (typeof value === "string" && PLAIN_TEXT.test(value)) return `the text ${JSON.stringify(value)}`;
  return describeKind(value);
}

/** Joins words as in `a`, `a or b` and `a, b or c`. */
export function joinWithOr(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

function isNothing(issue: z.core.$ZodRawIssue): boolean {
  return issue.input === undefined;
}

/** Formats a count as in `1 entry` and `2 entries`. */
function formatCount(count: number | bigint, one: string, several: string): string {
  return `${count} ${Number(count) === 1 ? one : several}`;
}

/** Describes a value that is too small or too large. */
function describeOutOfRange(issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>): string {
  const { input, origin, inclusive } = issue;
  const isLow = issue.code === "too_small";
  const bound = isLow ? issue.minimum : issue.maximum;
  const least = isLow ? "at least" : "at most";
  if (origin === "string" || origin === "array" || origin === "set" || origin === "map") {
    const length = typeof input === "string" || Array.isArray(input) ? input.length : undefined;
    if (isLow && length === 0 && Number(bound) === 1) return "must not be empty";
    const [one, several] = origin === "string" ? ["character", "characters"] : ["entry", "entries"];
    const got = length === undefined ? "" : `, got ${length}`;
    return `must have ${least} ${formatCount(bound, one as string, several as string)}${got}`;
  }
  const beyond = isLow ? "above" : "below";
  return `must be ${inclusive === false ? beyond : least} ${bound}${typeof input === "number" ? `, got ${input}` : ""}`;
}

/** Describes a value that is not one of the allowed words. */
function describeUnknownWord({ values, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidValue>): string {
  const words = values.map(String);
  const due = words.length === 1 ? `must be ${words[0]}` : `must be one of ${joinWithOr(words)}`;
  if (typeof input !== "string") return `${due}, got ${describeGiven(input, "")}`;
  const got = WORD.test(input) ? input : input === "" ? "an empty text" : "another text";
  return `${due}, got ${got}${WORD.test(input) ? didYouMean(input, words) : ""}`;
}

/**
 * Describes a value that matches no option of a union. It returns undefined if the options differ in more than their types.
 */
function describeUnionMismatch({
  input,
  errors,
}: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string | undefined {
  const kinds = (errors ?? []).flatMap(([first]) =>
    first?.code === "invalid_type" && first.path.length === 0 ? [KINDS[first.expected] ?? first.expected] : [],
  );
  if (kinds.length === 0 || kinds.length < (errors ?? []).length) return undefined;
  const expected = joinWithOr([...new Set(kinds)]);
  return `expected ${expected}, got ${describeGiven(input, kinds.includes("a text") ? "a text" : expected)}`;
}

/**
 * Describes an issue in plain English. It is the `error` function for `safeParse`. A schema's own message takes precedence.
 *
 * @returns undefined for issues with a message of their own.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type": {
      if (isNothing(issue)) return "is required";
      const expected = KINDS[issue.expected] ?? issue.expected;
      return `expected ${expected}, got ${describeGiven(issue.input, expected)}`;
    }
    case "too_small":
    case "too_big":
      return describeOutOfRange(issue as z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>);
    case "invalid_value":
      return isNothing(issue)
        ? "is required"
        : describeUnknownWord(issue as z.core.$ZodRawIssue<z.core.$ZodIssueInvalidValue>);
    case "invalid_union":
      if (isNothing(issue)) return "is required";
      return (
        describeUnionMismatch(issue as z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>) ??
        "matches none of the allowed forms"
      );
    case "invalid_format":
      return `is not a valid ${issue.format === "regex" ? "value" : issue.format}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    default:
      return undefined;
  }
}

/** Returns the known keys of the object schema that raised an issue. */
export function knownKeys(issue: z.core.$ZodRawIssue): readonly string[] {
  return issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
}
