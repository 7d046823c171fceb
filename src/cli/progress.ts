const WIDTH = 24;
/** Milliseconds between two updates of the bar. */
const UPDATE_INTERVAL = 100;

/** The progress on standard error: a bar on a terminal, or lines for logs. */
export class Progress {
  readonly #total: number | undefined;
  readonly #isShown: boolean;
  readonly #logIntervalMs: number | undefined;
  readonly #start = performance.now();
  #done = 0;
  #updatedAt: number;

  /**
   * @param total the number of steps, if known.
   * @param writesOutput whether the command writes to standard output meanwhile. Then the bar is hidden if both are the same terminal.
   * @param logIntervalMs the milliseconds between two lines if standard error is no terminal. By default there are none.
   */
  constructor(total?: number, writesOutput = true, logIntervalMs?: number) {
    this.#total = total;
    this.#logIntervalMs = process.stderr.isTTY ? undefined : logIntervalMs;
    this.#updatedAt = logIntervalMs === undefined ? 0 : this.#start;
    this.#isShown = process.stderr.isTTY === true && !(writesOutput && process.stdout.isTTY === true);
  }

  /** Counts a step. */
  step(): void {
    this.#done += 1;
    const now = performance.now();
    if (now - this.#updatedAt < (this.#logIntervalMs ?? UPDATE_INTERVAL)) return;
    if (!this.#isShown && this.#logIntervalMs === undefined) return;
    this.#updatedAt = now;
    process.stderr.write(this.#isShown ? `\r${this.#bar(now)}\x1b[K` : `guard: ${this.#counts(now)}\n`);
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
    if (!this.#total) return this.#counts(now);
    const filled = Math.round(Math.min(1, this.#done / this.#total) * WIDTH);
    return `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] ${this.#counts(now)}`;
  }

  #counts(now: number): string {
    const perSecond = (this.#done * 1000) / (now - this.#start);
    const rate = `${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s`;
    if (!this.#total) return `${this.#done} lines, ${rate}`;
    const percent = Math.floor(Math.min(1, this.#done / this.#total) * 100);
    const left = duration((this.#total - this.#done) / perSecond);
    return `${this.#done}/${this.#total} (${percent}%), ${rate}, ${left} left`;
  }
}

function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
