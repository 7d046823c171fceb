const WIDTH = 24;
/** More often than this a terminal gains nothing. */
const INTERVAL = 100;

/** A progress bar on standard error. It shows nothing unless that is a terminal and standard output is not. */
export class Progress {
  readonly #total: number | undefined;
  readonly #shown = process.stderr.isTTY === true && process.stdout.isTTY !== true;
  readonly #start = performance.now();
  #done = 0;
  #drawn = 0;

  /** @param total how many steps there are, where that is known. */
  constructor(total?: number) {
    this.#total = total;
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
    const rate = `${Math.round((this.#done * 1000) / (now - this.#start))}/s`;
    if (!this.#total) return `${this.#done} lines, ${rate}`;
    const part = Math.min(1, this.#done / this.#total);
    const filled = Math.round(part * WIDTH);
    const bar = "#".repeat(filled) + "-".repeat(WIDTH - filled);
    return `[${bar}] ${this.#done}/${this.#total} (${Math.floor(part * 100)}%), ${rate}`;
  }
}
