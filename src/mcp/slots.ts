import { type JsonToken, readJson, replaceInJson } from "../messages/json-strings.ts";
import { decodeFile } from "../messages/media.ts";
import { isProse } from "../messages/names.ts";
import { isRecord } from "../support/is-record.ts";
import { shortenPath } from "../support/shorten-path.ts";

/** A string of a message, with its place, and how to put another string there. */
export interface Slot {
  /** Where it stands: keys and indexes with `/` between them, and behind an arrow the place inside a text that is JSON. */
  path: string;
  text: string;
  /** Puts another string in its place, once {@link SlotReader.commit} is called. It is absent for names of properties that are not inside such a text: they stay. */
  write?: (text: string) => void;
}

/** A list or an object that holds values. */
type Container = Record<string | number, unknown>;

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
    if (typeof blob !== "string") return false;
    const file = decodeFile(blob, typeof mimeType === "string" ? mimeType : "");
    if (!file) return false;
    this.#readString(file.text, path, (changed) => {
      holder.blob = file.encode(changed);
    });
    return true;
  }

  /** Writes what was changed inside texts that are JSON. */
  commit(): void {
    for (const commit of this.#commits) commit();
  }

  #readName(name: string, path: string): void {
    // Other names say nothing by themselves.
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
