import { isForPrograms } from "../messages/all-strings.ts";
import { isFormText } from "../messages/request-fields.ts";
import { hasManyWords, isAnswerText } from "../messages/text-checks.ts";
import { isRecord } from "../support/is-record.ts";
import { invalidRequest, upstreamError } from "./errors.ts";
import type { CallSlot, Format, Json, TextSlot } from "./format.ts";

/** The maximum depth of objects and arrays in an answer. */
const MAX_DEPTH = 100;

/** A file as a data URL (RFC 2397). Some providers return generated images like this. */
const DATA_URL = /^data:[\w.+/-]+;base64,[\w+/=-]*$/;

/** Returns the slot at a key of an object, or nothing if it has no text. */
export function slotAt(holder: Json, key: string): TextSlot[] {
  const text = holder[key];
  if (typeof text !== "string") return [];
  return [{ text, set: (changed) => Object.assign(holder, { [key]: changed }) }];
}

/** Returns a slot that calls a function after each change of its text. */
export function watchSlot({ text, set }: TextSlot, onChange: (changed: string) => void): TextSlot {
  return {
    text,
    set(changed) {
      set(changed);
      onChange(changed);
    },
  };
}

/**
 * Returns the slot of a field of a request, or nothing if it is absent.
 *
 * @throws GuardValidationError if it is not a text.
 */
export function textAt(body: Json, key: string): TextSlot[] {
  const text = body[key];
  if (text !== undefined && text !== null && typeof text !== "string") throw invalidRequest(key, "expected a text");
  return slotAt(body, key);
}

/** @throws GuardValidationError for a list of messages that is empty. A list of another shape is refused where it is read. */
export function assertMessages(messages: unknown): void {
  if (Array.isArray(messages) && messages.length === 0) {
    throw invalidRequest("messages", "expected an array of at least one message");
  }
}

/** A slot with the keys and indexes that lead to it. */
export interface PathSlot extends TextSlot {
  keys: readonly (string | number)[];
}

/**
 * Finds all strings of a value that may be text. Ids, types, states and encrypted values are left out, as are files in data URLs, values at keys
 * of `skip`, and fields of the value itself in `handled`.
 */
export function findSlots(
  value: unknown,
  skip: ReadonlySet<string> = NONE,
  handled: ReadonlySet<string> = NONE,
): PathSlot[] {
  const found: PathSlot[] = [];
  const walk = (value: unknown, keys: readonly (string | number)[], set: (text: string) => void): void => {
    if (keys.length > MAX_DEPTH) throw upstreamError("The answer is nested too deeply.");
    if (typeof value === "string") {
      const isFile = keys.at(-1) === "url" && DATA_URL.test(value);
      if (value !== "" && !isFile) found.push({ text: value, keys, set });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        walk(item, [...keys, index], (text) => {
          value[index] = text;
        });
      }
    } else if (isRecord(value)) {
      for (const [key, item] of Object.entries(value)) {
        if (skip.has(key) || (keys.length === 0 && handled.has(key))) continue;
        if (isForPrograms(key, item) || isFileData(key, item)) continue;
        walk(item, [...keys, key], (text) => {
          value[key] = text;
        });
      }
    }
  };
  walk(value, [], () => {});
  return found;
}

const NONE: ReadonlySet<string> = new Set();

/** Does what {@link findSlots} does, for the value at a key of an object, which may be a string itself. */
export function findSlotsAt(holder: Json, key: string, skip: ReadonlySet<string> = NONE): PathSlot[] {
  return findSlots(holder, skip, new Set(Object.keys(holder).filter((name) => name !== key)));
}

/** Whether a value is the bytes of a file, such as audio, or the name of their format. */
function isFileData(key: string, value: unknown): boolean {
  return (key === "data" || key === "format") && typeof value === "string" && /^[\w+/=.-]*$/.test(value);
}

/** Finds texts in fields of an answer that no reader handles. */
export function findUnknownTexts(body: Json, handled: ReadonlySet<string>): PathSlot[] {
  return findSlots(body, NONE, handled).filter(({ text }) => isAnswerText(text));
}

/** Finds texts in fields of an answer that usually have a word or an id, such as the name of the provider. They have several words then. */
export function findLongTexts(body: Json, names: ReadonlySet<string>): TextSlot[] {
  const slots = [...names].flatMap((name) =>
    typeof body[name] === "string" ? slotAt(body, name) : findSlots(body[name]),
  );
  return slots.filter(({ text }) => /\s/.test(text) && hasManyWords(text));
}

/**
 * Reads the texts of a form: those in the fields of the format, and in `others` those in other fields that may contain an instruction.
 * Files are left out.
 */
export function readFormTexts(
  form: FormData,
  { formFields = [] }: Pick<Format, "formFields">,
): { texts: TextSlot[]; others: TextSlot[] } {
  // FormData.getAll for each name would take quadratic time.
  const fieldsOfForm = new Map<string, (string | File)[]>();
  for (const [name, value] of form) {
    const values = fieldsOfForm.get(name) ?? [];
    fieldsOfForm.set(name, values);
    values.push(value);
  }
  const slots = (name: string): TextSlot[] => {
    const values = fieldsOfForm.get(name) ?? [];
    return values.flatMap((value, index) => {
      if (typeof value !== "string") return [];
      const set = (text: string) => {
        values[index] = text;
        form.delete(name);
        for (const value of values) form.append(name, value as string);
      };
      return [{ text: value, set }];
    });
  };
  const others = [...fieldsOfForm.keys()].filter((name) => !formFields.includes(name));
  return {
    texts: formFields.flatMap(slots),
    others: others.flatMap((name) => slots(name).filter(({ text }) => isFormText(name, text))),
  };
}

/** Parses lists of names that are separated by white space. */
export function parseNames(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.join(" ").split(/\s+/));
}

/**
 * Returns the slot of a tool call whose arguments are at a key of an object, as a text or as JSON. An object with a name is a call even
 * without arguments.
 *
 * @param name the name of the tool.
 */
export function callSlotAt(holder: Json, key: string, name: unknown, id: unknown): CallSlot[] {
  const value = holder[key] ?? (typeof holder.name === "string" ? "" : undefined);
  if (value === undefined) return [];
  const isText = typeof value === "string";
  return [
    {
      call: {
        ...(typeof id === "string" && { id }),
        type: "function",
        function: { name: typeof name === "string" ? name : "", arguments: isText ? value : JSON.stringify(value) },
      },
      set: (changed) => {
        holder[key] = isText ? changed : parseArguments(changed);
      },
    },
  ];
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw upstreamError("The arguments of a tool call are no longer JSON.");
  }
}

/** Returns the object at a key, if there is one. */
export function getRecord(holder: Json, key: string): Json | undefined {
  const value = holder[key];
  return isRecord(value) ? value : undefined;
}

/** Returns the objects in the array at a key. Other values are left out. */
export function getRecords(holder: Json, key: string): Json[] {
  const value = holder[key];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/**
 * Parses the body or an event of an answer.
 *
 * @throws GuardError `GUARD_UPSTREAM` if it is not a JSON object.
 */
export function parseObject(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser would quote the answer.
    throw upstreamError("The answer is not JSON.");
  }
  if (!isRecord(value)) throw upstreamError("The answer is not an object.");
  return value;
}
