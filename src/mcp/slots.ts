import { visit } from "jsonc-parser";
import { isRecord } from "../support/is-record.ts";

/** A string of a message, with its place, and how to put another string there. */
export interface Slot {
  /** Where it stands: keys and indexes with `/` between them, and behind an arrow the place inside a text that is JSON. */
  path: string;
  text: string;
  /** Puts another string in its place, once {@link SlotReader.commit} is called. It is absent for names of properties, which stay. */
  write?: (text: string) => void;
}

/** A list or an object that holds values. */
type Container = Record<string | number, unknown>;

/** Names of properties that say nothing by themselves. Any other name is read as text, because a model reads it too. */
const PLAIN_NAME = /^[\w.$:/-]{1,64}$/;

/** Types of content that are text although they are sent as bytes. */
const TEXT_TYPE = /^(text\/|application\/([\w.-]+\+)?(json|xml|yaml|x-yaml|toml|javascript|sql|x-sh)\b)/i;

/** Collects the strings of values, so that they can be scanned and changed. The values themselves are changed: give it a copy. */
export class SlotReader {
  readonly slots: Slot[] = [];
  readonly #commits: (() => void)[] = [];

  /**
   * Reads the value at a key, with all values in it. Text that is itself a JSON object or list is read as its strings.
   *
   * @param path the place of the value.
   */
  read(holder: object, key: string | number, path: string): void {
    const container = holder as Container;
    const value = container[key];
    if (typeof value === "string") {
      const write = (text: string) => {
        container[key] = text;
      };
      this.#readString(value, path, write);
    } else if (Array.isArray(value)) {
      for (const index of value.keys()) this.read(value, index, `${path}/${index}`);
    } else if (isRecord(value)) {
      for (const name of Object.keys(value)) {
        this.#readName(name, `${path}/${name}`);
        this.read(value, name, `${path}/${name}`);
      }
    }
  }

  /**
   * Reads the bytes in base64 of a resource, where they are text by their type or, without a type, by what they are. A server could
   * otherwise hide text from checks by sending it as bytes.
   *
   * @returns whether they are text.
   */
  readBlob(holder: Record<string, unknown>, path: string): boolean {
    const { blob, mimeType } = holder;
    if (typeof blob !== "string" || (typeof mimeType === "string" && !TEXT_TYPE.test(mimeType))) return false;
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(blob, "base64"));
    } catch {
      return false;
    }
    this.#readString(text, path, (changed) => {
      holder.blob = Buffer.from(changed, "utf8").toString("base64");
    });
    return true;
  }

  /** Writes what was changed inside texts that are JSON. */
  commit(): void {
    for (const commit of this.#commits) commit();
  }

  #readName(name: string, path: string): void {
    if (!PLAIN_NAME.test(name)) this.slots.push({ path, text: name });
  }

  #readString(text: string, path: string, write: (text: string) => void): void {
    if (text === "") return;
    if (!isJson(text)) {
      this.slots.push({ path, text, write });
      return;
    }
    // The text stays as it is but for the strings that are changed: numbers keep their digits, and of a key that is there twice both
    // values are read, as a model reads both.
    const edits: Edit[] = [];
    const inside = (at: readonly (string | number)[]) => `${path} → ${arrowPath(at)}`;
    visit(text, {
      onObjectProperty: (name, _offset, _length, _line, _column, at) => this.#readName(name, inside([...at(), name])),
      onLiteralValue: (value, offset, length, _line, _column, at) => {
        if (typeof value !== "string") return;
        this.#readString(value, inside(at()), (changed) => {
          edits.push({ start: offset, end: offset + length, content: JSON.stringify(changed) });
        });
      },
    });
    // Strings that are JSON themselves have registered their own step before this one, so the innermost are written first.
    this.#commits.push(() => {
      if (edits.length > 0) write(edited(text, edits));
    });
  }
}

/** A range of a text that becomes another text. */
interface Edit {
  start: number;
  end: number;
  content: string;
}

/** Applies edits that do not overlap, in one pass. */
function edited(text: string, edits: readonly Edit[]): string {
  let end = 0;
  const parts = edits
    .toSorted((a, b) => a.start - b.start)
    .map((edit) => {
      const part = text.slice(end, edit.start) + edit.content;
      end = edit.end;
      return part;
    });
  return parts.join("") + text.slice(end);
}

/** Whether a text is a JSON object or list. */
function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** `["results", 2, "description"]` as `results[2].description`. */
function arrowPath(keys: readonly (string | number)[]): string {
  return keys.map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`)).join("");
}
