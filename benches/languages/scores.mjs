// The probabilities of the scanners, kept in a file so that an interrupted run continues.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createScanner, scanOutput, scanPrompt } from "../../dist/index.js";

/** How many texts are scanned at the same time. */
const CONCURRENCY = 16;

/** Makes the scanner of an entry. Its probabilities are not corrected by language. */
export function scannerOf({ type, side, params = {} }) {
  return createScanner(side, type, { ...params, on_untrained_language: "raw" });
}

/** The key of the scores: a scanner may be measured with texts of several sources. */
const keyOf = ({ type, source }) => (source ? `${type} ${source}` : type);

export class ScoreStore {
  #path;
  /** Probabilities by scanner, source and SHA-1 of the text. */
  #scores = new Map();

  /** @param path a JSON Lines file with the scores of earlier runs, if it exists. */
  constructor(path) {
    this.#path = path;
    if (!existsSync(path)) return;
    for (const line of readFileSync(path, "utf8").trim().split("\n")) this.#add(...JSON.parse(line));
  }

  #add(hash, scores) {
    for (const [key, value] of Object.entries(scores)) this.#scores.set(`${key} ${hash}`, value);
  }

  /** The probabilities of several scanners for texts. Scanners that share a model share its passes. */
  async score(entries, rows) {
    const scanners = entries.map((entry) => ({ ...entry, scanner: scannerOf(entry) }));
    let done = 0;
    const scoreRow = async (row) => {
      await this.#scoreRow(scanners, row);
      done += 1;
      if (done % 1000 === 0) process.stderr.write(`${done} of ${rows.length}\n`);
    };
    for (let at = 0; at < rows.length; at += CONCURRENCY) {
      await Promise.all(rows.slice(at, at + CONCURRENCY).map(scoreRow));
    }
    await Promise.all(scanners.map(({ scanner }) => scanner.close()));
    return entries.map((entry) => rows.map(({ hash }) => this.#scores.get(`${keyOf(entry)} ${hash}`)));
  }

  async #scoreRow(entries, { text, hash }) {
    const missing = entries.filter((entry) => !this.#scores.has(`${keyOf(entry)} ${hash}`));
    if (missing.length === 0) return;
    const scores = {};
    for (const side of ["input", "output"]) {
      const ofSide = missing.filter((entry) => entry.side === side);
      if (ofSide.length === 0) continue;
      const scanners = ofSide.map(({ scanner }) => scanner);
      const [{ source }] = ofSide;
      const { probabilities } =
        side === "input" ? await scanPrompt(scanners, text, { source }) : await scanOutput(scanners, "", text);
      for (const entry of ofSide) scores[keyOf(entry)] = probabilities[entry.type] ?? 0;
    }
    this.#add(hash, scores);
    appendFileSync(this.#path, `${JSON.stringify([hash, scores])}\n`);
  }
}
