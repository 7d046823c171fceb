import { GuardError } from "../support/errors.ts";
import { type Head, linked } from "./chain.ts";

/** Where lines of an audit log go. */
export interface AuditSink {
  /** The last record that is there already, if the sink can tell. */
  open(): Promise<Head>;
  /** Writes lines, all of them or none. */
  write(lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Of what an audit log is made. */
export interface AuditLogOptions {
  sink: AuditSink;
  /** The key of the chain; see {@link linked}. */
  key: Uint8Array | undefined;
}

/** The most decisions that wait to be recorded. */
const MOST_WAITING = 10_000;

interface Waiting {
  record: object;
  settle(error?: Error): void;
}

/**
 * A log of decisions whose records are chained. What comes while something is written is written together, once that is done: a busy
 * server does not write more often than its disk can.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  #waiting: Waiting[] = [];
  #head: Head | undefined;
  #isWorking = false;
  #working: Promise<void> | undefined;
  /** Decisions that were not recorded since the last record. */
  #lost = 0;

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  /**
   * Records a decision. It is written when the promise resolves.
   *
   * @throws GuardError `GUARD_UNAVAILABLE` when it cannot be written. It is lost then, which the next record tells.
   */
  record(record: object): Promise<void> {
    const settled = new Promise<void>((resolve, reject) => {
      const settle = (error?: Error) => {
        if (!error) return resolve();
        this.#lost += 1;
        reject(new GuardError("GUARD_UNAVAILABLE", "The decision could not be recorded.", { cause: error }));
      };
      if (this.#waiting.length >= MOST_WAITING) settle(new Error(`${MOST_WAITING} decisions wait to be recorded`));
      else this.#waiting.push({ record, settle });
    });
    if (!this.#isWorking) this.#working = this.#work();
    return settled;
  }

  /** Writes what waits, and closes the sink. */
  async close(): Promise<void> {
    await this.#working;
    await this.#options.sink.close();
  }

  async #work(): Promise<void> {
    const { sink, key } = this.#options;
    this.#isWorking = true;
    // What comes in the same turn is written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        this.#head ??= await sink.open();
        let head = this.#head;
        const lost = this.#lost;
        const lines = batch.map(({ record }, index) => {
          const made = linked(index === 0 && lost > 0 ? { lost, ...record } : record, head, key);
          head = made.head;
          return made.line;
        });
        await sink.write(lines);
        this.#head = head;
        this.#lost -= lost;
        for (const { settle } of batch) settle();
      } catch (error) {
        // The next record asks the sink where the chain ends, because nobody knows what became of this one.
        this.#head = undefined;
        for (const { settle } of batch) settle(error as Error);
      }
    }
    this.#isWorking = false;
  }
}
