// The texts of the language evaluation, with their detected languages.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** The language to which all others are compared. */
export const REFERENCE = "en";
/** The maximum length of a text in UTF-16 code units. */
const MAX_LENGTH = 2000;
/** Language codes of the sets by the code that the detector uses. */
const SPELLINGS = { nb: "no", nn: "no", "zh-tw": "zh", kr: "ko", jp: "ja", fil: "tl", iw: "he" };

export class LanguageTexts {
  #engine;
  #folders;
  #plan;

  /**
   * @param engine guard's engine, whose language detector is used.
   * @param folders folders with the files; the first that has a file wins.
   * @param plan the settings `max_foreign_texts` and `reference_factor` of sets.yml.
   */
  constructor(engine, folders, plan) {
    this.#engine = engine;
    this.#folders = folders;
    this.#plan = plan;
  }

  /**
   * The harmless texts whose detected language is that of their set. Of texts that are detected as another language, only a few per pair of
   * languages are kept, and none that are detected as the reference.
   */
  async harmless(files) {
    const rows = await this.#withLanguages(files.flatMap((file) => this.#rowsOf(file)).sort(byHash));
    const foreign = new Map();
    const kept = rows.filter(({ lang, detected }) => {
      if ((SPELLINGS[lang] ?? lang) === detected) return true;
      const key = `${lang} ${detected}`;
      foreign.set(key, (foreign.get(key) ?? 0) + 1);
      return detected !== REFERENCE && foreign.get(key) <= this.#plan.max_foreign_texts;
    });
    process.stderr.write(`${kept.length} harmless texts\n`);
    return kept;
  }

  /** The positive texts with their detected languages. */
  positive(files) {
    return this.#withLanguages(files.flatMap((file) => this.#rowsOf(file)));
  }

  /** The first rows of a file for each of its languages and labels, in the order of their hashes. */
  #rowsOf({ file, rows, labels, sets }) {
    const all = gunzipSync(readFileSync(this.#pathOf(file)))
      .toString()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .filter(({ text, label, set }) => {
        return text.length <= MAX_LENGTH && (!labels || labels.includes(label)) && (!sets || sets.includes(set));
      })
      .map((row) => ({ ...row, hash: createHash("sha1").update(row.text).digest("hex") }))
      .sort(byHash);
    const counts = new Map();
    return all.filter(({ lang, label }) => {
      const key = `${lang} ${label}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return counts.get(key) <= (lang === REFERENCE ? rows * this.#plan.reference_factor : rows);
    });
  }

  #pathOf(file) {
    const path = this.#folders.map((folder) => join(folder, file)).find(existsSync);
    if (!path) throw new Error(`there is no ${file} in ${this.#folders.join(" or ")}`);
    return path;
  }

  async #withLanguages(rows) {
    const detected = [];
    for (const row of rows) detected.push({ ...row, detected: await this.#languageOf(row.text) });
    return detected.filter((row) => row.detected !== undefined);
  }

  /** The detected language of a whole text; undefined if the detector finds several. */
  async #languageOf(text) {
    const parts = await this.#engine.languages.foreignParts(text, { known: [] });
    return parts.length === 1 ? (parts[0].language ?? undefined) : undefined;
  }
}

const byHash = (a, b) => (a.hash < b.hash ? -1 : 1);

/** The first `count` texts of each detected language. */
export function firstOfEachLanguage(count, rows) {
  const counts = new Map();
  return rows.filter(({ detected }) => {
    counts.set(detected, (counts.get(detected) ?? 0) + 1);
    return counts.get(detected) <= count;
  });
}
