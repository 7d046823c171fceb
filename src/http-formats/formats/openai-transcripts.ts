import { isRecord } from "../../support/is-record.ts";
import type { AnswerPart, Format, Json, TextSlot } from "../format.ts";
import { findSlots, findUnknownTexts, getRecords, slotAt, watchSlot } from "../slots.ts";
import { openaiErrors } from "./openai-errors.ts";
import { ResponseStream } from "./openai-responses-stream.ts";

/**
 * OpenAI's transcripts and translations of audio: https://platform.openai.com/docs/api-reference/audio/createTranscription. The answer is
 * JSON, plain text or subtitles. The audio is not checked.
 */
export const openaiTranscripts: Format = {
  name: "OpenAI transcripts",
  path: /\/audio\/(?:transcriptions|translations)$/,
  errors: openaiErrors,
  formFields: ["prompt"],
  allowsPlainText: true,
  guardStream: (call, request) => new ResponseStream(call, request),
  readAnswer,
};

/** Fields that repeat the text as tokens. */
const TOKEN_FIELDS = ["logprobs", "tokens", "token_ids"];

/** Lists that repeat the text of the body. */
const LISTS = ["segments", "words"];
/** Fields of a body that repeat its text or have their own readers. */
const BODY_FIELDS: ReadonlySet<string> = new Set([
  "text",
  "language",
  "task",
  "error",
  "usage",
  ...LISTS,
  ...TOKEN_FIELDS,
]);

/** A part of the text that an entry of a list repeats. */
interface Range {
  start: number;
  end: number;
  set(text: string): void;
}

/**
 * Reads a transcript. Its segments and words repeat the text, so text that is removed from the transcript is removed from them too. Lists
 * that do not repeat the text are checked separately, and dropped if the text changes.
 */
function readAnswer(body: Json): AnswerPart[] {
  const lists = [
    { name: "segments", entries: getRecords(body, "segments") },
    { name: "words", entries: getRecords(body, "words") },
    { name: "segments", entries: getRecords(body, "segments").flatMap((segment) => getRecords(segment, "words")) },
  ].map((list) => ({
    ...list,
    ranges: typeof body.text === "string" ? alignWith(body.text, list.entries) : undefined,
  }));
  const ranges = lists.flatMap(({ ranges }) => ranges ?? []);
  const others = lists.flatMap(({ entries, ranges }) =>
    entries.flatMap((entry) => entryTexts(entry, ranges !== undefined)),
  );
  const onTextChange = () => {
    for (const { name, ranges } of lists) if (!ranges) body[name] = [];
    clearTokens(body);
  };
  const text = ranges.length > 0 ? pieces(body, ranges) : slotAt(body, "text");
  return [
    { texts: text.map((slot) => watchSlot(slot, onTextChange)) },
    { texts: others.map((slot) => watchSlot(slot, () => clearTokens(body))), separator: " " },
    { texts: LISTS.flatMap((name) => strayStrings(body[name])), separator: " " },
    { texts: findUnknownTexts(body, BODY_FIELDS), separator: "\n" },
  ];
}

/** The key of an entry with its part of the text. */
function textKey(entry: Json): string | undefined {
  return ["text", "word"].find((key) => typeof entry[key] === "string");
}

/** Finds the entries of a list in a text, in order; undefined if one of them is not found. */
function alignWith(text: string, list: readonly Json[]): Range[] | undefined {
  let from = 0;
  const ranges: Range[] = [];
  for (const entry of list) {
    const key = textKey(entry);
    const given = key === undefined ? "" : (entry[key] as string);
    const shown = given.trim();
    const start = text.indexOf(shown, from);
    if (key === undefined || start < 0) return;
    from = start + shown.length;
    const [before, after] = [given.slice(0, given.indexOf(shown)), given.slice(given.indexOf(shown) + shown.length)];
    ranges.push({
      start,
      end: from,
      set: (changed) => Object.assign(entry, { [key]: changed === "" ? "" : before + changed + after }),
    });
  }
  return ranges;
}

/** Divides the text of a body at the borders of its ranges. A changed piece changes the ranges that contain it. */
function pieces(body: Json, ranges: readonly Range[]): TextSlot[] {
  const text = body.text as string;
  const borders = [...new Set([0, text.length, ...ranges.flatMap(({ start, end }) => [start, end])])].sort(
    (a, b) => a - b,
  );
  const strings = borders.slice(1).map((end, index) => text.slice(borders[index], end));
  const places = new Map(borders.map((border, index) => [border, index]));
  const owners: Range[][] = strings.map(() => []);
  for (const range of ranges) {
    for (let index = places.get(range.start) as number; index < (places.get(range.end) as number); index++) {
      owners[index]?.push(range);
    }
  }
  return strings.map((string, index) => ({
    text: string,
    set(changed) {
      strings[index] = changed;
      body.text = strings.join("");
      for (const range of owners[index] ?? []) {
        range.set(strings.slice(places.get(range.start), places.get(range.end)).join(""));
      }
    },
  }));
}

/** Returns the texts of an entry. With `isRepeated`, the body contains its main text, which is left out. */
function entryTexts(entry: Json, isRepeated: boolean): TextSlot[] {
  const key = textKey(entry);
  const handled = new Set([...TOKEN_FIELDS, "words", ...(key === undefined ? [] : [key])]);
  const own = isRepeated || key === undefined ? [] : slotAt(entry, key);
  return [...own, ...findUnknownTexts(entry, handled)];
}

/** Strings in a list of objects, and lists of another shape. */
function strayStrings(list: unknown): TextSlot[] {
  if (!Array.isArray(list)) return findSlots(list);
  return findSlots(list).filter(({ keys: [index] }) => !isRecord(list[index as number]));
}

/** Removes the tokens of a changed text and their probabilities, at any depth. */
function clearTokens(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) clearTokens(item);
  if (!isRecord(value)) return;
  for (const [key, item] of Object.entries(value)) {
    if (TOKEN_FIELDS.includes(key)) value[key] = [];
    else clearTokens(item);
  }
}
