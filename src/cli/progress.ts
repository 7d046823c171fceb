const WIDTH = 24;
/** Milliseconds between two drawings. Drawing more often would show nothing more. */
const INTERVAL = 100;

/** A progress bar on standard error. It shows nothing unless that is a terminal. */
export class Progress {
  readonly #total: number | undefined;
  readonly #shown: boolean;
  readonly #start = performance.now();
  #done = 0;
  #drawn = 0;

  /**
   * @param total how many steps there are, where that is known.
   * @param beside whether something is written to standard output meanwhile, so that the bar must not stand on the same terminal.
   */
  constructor(total?: number, beside = true) {
    this.#total = total;
    this.#shown = process.stderr.isTTY === true && !(beside && process.stdout.isTTY === true);
  }

  /** Another step is done. */
  step(): void {
    this.#done += 1;
    const now = performance.now();
    if (!this.#shown || now - this.#drawn < INTERVAL) return;
    this.#drawn = now;
    process.stderr.write(`\r${this.#bar(now)}\x1b[K`);
  }

  /** Writes a line above the bar. */
  note(line: string): void {
    this.clear();
    process.stderr.write(`${line}\n`);
  }

  /** Takes the bar away. */
  clear(): void {
    if (this.#shown) process.stderr.write("\r\x1b[K");
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
