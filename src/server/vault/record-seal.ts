import type { KeyObject } from "node:crypto";
import { openText, sealText } from "./sealed-text.ts";

/**
 * Encrypts and authenticates records for a store that others may read and write: whoever can write to the store cannot make a record, and
 * whoever can read it learns nothing. A record is bound to its id.
 */
export class RecordSeal<T> {
  readonly #secret: KeyObject;
  readonly #purpose: string;

  /** @param purpose a unique name of this use of the secret. */
  constructor(secret: KeyObject, purpose: string) {
    this.#secret = secret;
    this.#purpose = purpose;
  }

  seal(id: string, record: T): Buffer {
    return sealText(this.#bindingOf(id), JSON.stringify(record));
  }

  /** Returns undefined if the bytes were sealed with another secret, purpose or id, or were changed. */
  open(id: string, sealed: Buffer): T | undefined {
    const text = openText(this.#bindingOf(id), sealed);
    return text === undefined ? undefined : JSON.parse(text);
  }

  #bindingOf(id: string) {
    return { secret: this.#secret, purpose: this.#purpose, context: id };
  }
}
