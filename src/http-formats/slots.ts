import { NON_TEXT_KEYS } from "../messages/all-strings.ts";
import { isRecord } from "../support/is-record.ts";
import { upstreamError } from "./errors.ts";
import type { CallSlot, Format, Json, TextSlot } from "./format.ts";

/** How deep objects and arrays of an answer may be nested. */
const DEEPEST = 100;

/** The bytes of a file as the URL of it (RFC 2397), as some providers give the images that a model made. */
const FILE = /^data:[\w.+/-]+;base64,[\w+/=-]*$/;

/** The text at a key of an object. */
export function slot(holder: Json, key: string): TextSlot[] {
  const text = holder[key];
  if (typeof text !== "string") return [];
  return [{ text, set: (changed) => Object.assign(holder, { [key]: changed }) }];
}

/** A text somewhere in a value, with the keys and indexes that lead to it. */
export interface PlacedSlot extends TextSlot {
  keys: readonly (string | number)[];
}

/**
 * All strings of a value that could be text: ids, types, states and what is encrypted are left out, as long as they are single words,
 * files that stand in a URL, and what stands at the keys of `skip`.
 */
export function slotsIn(value: unknown, skip: ReadonlySet<string> = new Set()): PlacedSlot[] {
  const found: PlacedSlot[] = [];
  const walk = (value: unknown, keys: readonly (string | number)[], set: (text: string) => void): void => {
    if (keys.length > DEEPEST) throw upstreamError("The answer is nested too deeply.");
    if (typeof value === "string") {
      const isFile = keys.at(-1) === "url" && FILE.test(value);
      if (value !== "" && !isFile) found.push({ text: value, keys, set });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        walk(item, [...keys, index], (text) => {
          value[index] = text;
        });
      }
    } else if (isRecord(value)) {
      for (const [key, item] of Object.entries(value)) {
        if (skip.has(key) || (NON_TEXT_KEYS.has(key) && !(typeof item === "string" && /\s/.test(item)))) continue;
        walk(item, [...keys, key], (text) => {
          value[key] = text;
        });
      }
    }
  };
  walk(value, [], () => {});
  return found;
}

/** Ids, names, addresses, hashes and the bytes of files: printable ASCII without white space. */
const NO_WORDS = /^[\x21-\x7e]*$/;

/** The texts in fields that are not among those that are known. Words have white space or signs of other scripts, and mail addresses an @. */
export function unknownTexts(body: Json, known: ReadonlySet<string>): TextSlot[] {
  return Object.keys(body)
    .filter((key) => !known.has(key))
    .flatMap((key) => {
      const value = body[key];
      return typeof value === "string" ? slot(body, key) : slotsIn(value);
    })
    .filter(isOfWords);
}

function isOfWords({ text }: TextSlot): boolean {
  return !NO_WORDS.test(text) || text.includes("@");
}

/**
 * The texts of a form: in the fields that a format reads, and in all others but those that are known, as {@link unknownTexts} has them.
 * Files are left out.
 */
export function formTexts(
  form: FormData,
  { form: read = [], fields = new Set() }: Pick<Format, "form" | "fields">,
): { texts: TextSlot[]; others: TextSlot[] } {
  // Looking for each name by itself would take time that grows with the square of their number.
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
  const others = [...fieldsOfForm.keys()].filter((name) => !read.includes(name) && !fields.has(name));
  return { texts: read.flatMap(slots), others: others.flatMap(slots).filter(isOfWords) };
}

/** Names with white space between them, as a set. */
export function names(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.join(" ").split(/\s+/));
}

/** The descriptions in a JSON Schema, which the model reads. */
export function descriptions(schema: unknown): TextSlot[] {
  return slotsIn(schema).filter(({ keys }) => keys.at(-1) === "description" || keys.at(-1) === "title");
}

/**
 * A tool call whose arguments stand at a key of an object: as a text, or as JSON. One that has a name of its own is a call also without
 * arguments.
 *
 * @param name the name of the tool.
 */
export function callSlot(holder: Json, key: string, name: unknown, id: unknown): CallSlot[] {
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
        holder[key] = isText ? changed : parsed(changed);
      },
    },
  ];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw upstreamError("The arguments of a tool call are no JSON any more.");
  }
}

/** The object at a key, where there is one. */
export function recordAt(holder: Json, key: string): Json | undefined {
  const value = holder[key];
  return isRecord(value) ? value : undefined;
}

/** The objects of the array at a key. What is no object is left out. */
export function recordsAt(holder: Json, key: string): Json[] {
  const value = holder[key];
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/**
 * Reads the body or an event of an answer.
 *
 * @throws GuardError `GUARD_UPSTREAM` for what is no JSON object.
 */
export function parsedObject(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What the parser says quotes the answer.
    throw upstreamError("The answer is no JSON.");
  }
  if (!isRecord(value)) throw upstreamError("The answer is no object.");
  return value;
}
