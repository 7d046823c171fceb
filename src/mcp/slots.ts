import { type JsonToken, readJson, replaceInJson } from "../messages/json-strings.ts";
import { decodeFile } from "../messages/media.ts";
import { isProse } from "../messages/text-checks.ts";
import { isRecord } from "../support/is-record.ts";
import { shortenPath } from "../support/shorten-path.ts";

/** A string of a message, its path, and a function to replace it. */
export interface Slot {
  /** Keys and indexes separated by `/`; after an arrow, the path inside a string that is JSON. */
  path: string;
  text: string;
  /** Replaces the string when {@link SlotReader.commit} is called. Absent for names of properties outside of JSON strings, which cannot be replaced. */
  write?: (text: string) => void;
}

/** A list or an object. */
type Container = Record<string | number, unknown>;

/** Collects the strings of values for scanning and replacing. It changes the values in place, so pass a copy. */
export class SlotReader {
  readonly slots: Slot[] = [];
  readonly #commits: (() => void)[] = [];

  /**
   * Reads the value at a key and all values in it. A string that is a JSON object or list is read as its strings.
   *
   * @param path the path of the value.
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
   * Reads the base64 data of a resource or a block if it is text, by its type or, without a type, by its content. Otherwise a server could hide text
   * from checks by sending it as data.
   *
   * @returns whether all of the data was read as text.
   */
  readBlob(holder: Record<string, unknown>, key: "blob" | "data", path: string): boolean {
    const { [key]: bytes, mimeType } = holder;
    if (typeof bytes !== "string") return false;
    const file = decodeFile(bytes, typeof mimeType === "string" ? mimeType : "");
    let written: number | undefined;
    for (const [index, { text, encode }] of file?.readings.entries() ?? []) {
      this.#readString(text, path, (changed) => {
        // The new text is that of the first reading, so that programs agree about it.
        if (written !== undefined && written < index) return;
        written = index;
        holder[key] = encode(changed);
      });
    }
    return file?.isPartial === false;
  }

  /** Reads strings in a value for programs, such as a cursor, if they may contain an instruction. */
  readNames(holder: object, key: string | number, path: string, isRead: (value: string) => boolean): void {
    const container = holder as Container;
    const value = container[key];
    if (typeof value === "string") {
      if (isRead(value)) this.read(holder, key, path);
    } else if (typeof value === "object" && value !== null) {
      for (const name of Object.keys(value)) this.readNames(value, name, `${path}/${name}`, isRead);
    }
  }

  /** Writes the replacements inside JSON strings. */
  commit(): void {
    for (const commit of this.#commits) commit();
  }

  #readName(name: string, path: string): void {
    // Other names are identifiers.
    if (isProse(name)) this.slots.push({ path: shortenPath(path), text: name });
  }

  #readString(text: string, path: string, write: (text: string) => void): void {
    if (text === "") return;
    const read = readJson(text, false);
    if (!read) {
      this.slots.push({ path: shortenPath(path), text, write });
      return;
    }
    const replacements = new Map<JsonToken, string>();
    for (const { value, path: inside, token } of read.pieces) {
      const change = (changed: string) => void replacements.set(token, changed);
      this.slots.push({ path: shortenPath(`${path} → ${inside}`), text: value, write: change });
    }
    this.#commits.push(() => {
      if (replacements.size > 0) write(replaceInJson(read.json, replacements));
    });
  }
}
