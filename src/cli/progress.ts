const WIDTH = 24;
/** Milliseconds between two updates of the bar. */
const UPDATE_INTERVAL = 100;

/** A progress bar on standard error, shown only on a terminal. */
export class Progress {
  readonly #total: number | undefined;
  readonly #isShown: boolean;
  readonly #start = performance.now();
  #done = 0;
  #updatedAt = 0;

  /**
   * @param total the number of steps, if known.
   * @param writesOutput whether the command writes to standard output meanwhile. Then the bar is hidden if both are the same terminal.
   */
  constructor(total?: number, writesOutput = true) {
    this.#total = total;
    this.#isShown = process.stderr.isTTY === true && !(writesOutput && process.stdout.isTTY === true);
  }

  /** Counts a step. */
  step(): void {
    this.#done += 1;
    const now = performance.now();
    if (!this.#isShown || now - this.#updatedAt < UPDATE_INTERVAL) return;
    this.#updatedAt = now;
    process.stderr.write(`\r${this.#bar(now)}\x1b[K`);
  }

  /** Writes a line above the bar. */
  note(line: string): void {
    this.clear();
    process.stderr.write(`${line}\n`);
  }

  /** Removes the bar. */
  clear(): void {
    if (this.#isShown) process.stderr.write("\r\x1b[K");
  }

  #bar(now: number): string {
    const perSecond = (this.#done * 1000) / (now - this.#start);
    const rate = `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`;
    if (!this.#total) return `${this.#done} lines, ${rate}`;
    const part = Math.min(1, this.#done / this.#total);
    const filled = Math.round(part * WIDTH);
    const bar = "#".repeat(filled) + "-".repeat(WIDTH - filled);
    const left = duration((this.#total - this.#done) / perSecond);
    return `[${bar}] ${this.#done}/${this.#total} (${Math.floor(part * 100)}%), ${rate}, ${left} left`;
  }
}

function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
