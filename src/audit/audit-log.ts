import { GuardError } from "../support/errors.ts";
import { appendRecord, type Head } from "./chain.ts";

/** The destination of an audit log. */
export interface AuditSink {
  /** Returns the last record, if the sink knows it. */
  open(): Promise<Head>;
  /** Writes all lines or none. */
  write(lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface AuditLogOptions {
  sink: AuditSink;
  /** The key of the chain; see {@link appendRecord}. */
  key: Uint8Array | undefined;
}

const MAX_PENDING = 10_000;

interface PendingRecord {
  record: object;
  settle(error?: Error): void;
}

/** A log of chained records. Records that arrive during a write are written together afterwards. */
export class AuditLog {
  readonly #options: AuditLogOptions;
  #pending: PendingRecord[] = [];
  #head: Head | undefined;
  #isWriting = false;
  #writing: Promise<void> | undefined;
  /** Decisions that could not be recorded since the last record. */
  #lost = 0;

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  /**
   * Records a decision, and resolves when it is written.
   *
   * @throws GuardError `GUARD_UNAVAILABLE` if it could not be written. The next record counts it as lost.
   */
  record(record: object): Promise<void> {
    const settled = new Promise<void>((resolve, reject) => {
      const settle = (error?: Error) => {
        if (!error) return resolve();
        this.#lost += 1;
        reject(new GuardError("GUARD_UNAVAILABLE", "The decision could not be recorded.", { cause: error }));
      };
      if (this.#pending.length >= MAX_PENDING) settle(new Error(`${MAX_PENDING} decisions wait to be recorded`));
      else this.#pending.push({ record, settle });
    });
    if (!this.#isWriting) this.#writing = this.#writePending();
    return settled;
  }

  /** Writes pending records, and closes the sink. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#options.sink.close();
  }

  async #writePending(): Promise<void> {
    const { sink, key } = this.#options;
    this.#isWriting = true;
    // Records of the same turn are written together.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      try {
        this.#head ??= await sink.open();
        let head = this.#head;
        const lost = this.#lost;
        const lines = batch.map(({ record }, index) => {
          const appended = appendRecord(index === 0 && lost > 0 ? { lost, ...record } : record, head, key);
          head = appended.head;
          return appended.line;
        });
        await sink.write(lines);
        this.#head = head;
        this.#lost -= lost;
        for (const { settle } of batch) settle();
      } catch (error) {
        // It is unknown whether the records were written, so the sink is asked again for the last one.
        this.#head = undefined;
        for (const { settle } of batch) settle(error as Error);
      }
    }
    this.#isWriting = false;
  }
}
