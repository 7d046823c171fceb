import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readEvaluation } from "../../models/evaluation.ts";

/** The marks in `CARD.md` around the tables that `npm run eval -- --write-cards` writes. */
const [BEGIN, END] = ["<!-- eval -->", "<!-- /eval -->"];

/** The documentation of an embedded model. */
export interface ModelReference {
  name: string;
  version: string;
  license: string;
  /** The size of its files in bytes, without files that it shares with other models. */
  size: number;
  /** The names of its heads, if it has several. */
  heads: string[];
  /** Its labels, if it has one head. */
  labels: string[];
  /** The date of its figures; absent if it has none. */
  measured?: string;
}

/** The part of `config.json` that is shown. */
interface ModelConfig {
  id2label?: Record<string, string>;
  guard: { name: string; version: string; license: string; heads?: { name: string; labels?: string[] }[] };
}

/** Reads the documentation of an embedded model. */
export function modelReference(folder: string): ModelReference {
  const config: ModelConfig = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  const { name, version, license, heads = [] } = config.guard;
  const size = readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  const measured = readEvaluation(folder)?.date ?? /measured on (\d{4}-\d\d-\d\d)/.exec(figuresOf(folder))?.[1];
  return {
    ...{ name, version, license, size },
    heads: heads.length > 1 ? heads.map((head) => head.name) : [],
    labels: heads.length > 1 ? [] : Object.values(config.id2label ?? {}),
    ...(measured === undefined ? {} : { measured }),
  };
}

/** The tables of a model's card. */
function figuresOf(folder: string): string {
  const card = join(folder, "CARD.md");
  const text = existsSync(card) ? readFileSync(card, "utf8") : "";
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  return begin < 0 || end < begin ? "" : text.slice(begin + BEGIN.length, end).trimStart();
}

/** A table; the first row has the titles of the columns. */
export type Table = readonly (readonly string[])[];

/** The figures of a scanner. */
export interface Figures {
  /** The scanner and the side, such as `Toxicity (input)`. */
  title: string;
  tables: Table[];
  /** The text besides the tables. */
  text: string;
}

/** The figures of a scanner in the card of its model, and the thresholds for rates of false positives. */
export function figuresOfScanner(folder: string, type: string): { measured: Figures[]; thresholds: Figures[] } {
  const sections = figuresOf(folder)
    .split(/^### /m)
    .slice(1)
    .map((section): Figures => {
      const [heading = "", ...lines] = section.split("\n");
      // The options after the title may be long; the card has them.
      const title = heading.replace(/, `.*$/, "");
      const blocks = lines.join("\n").trim().split("\n\n");
      const isTable = (block: string) => block.startsWith("|");
      return {
        title,
        tables: blocks.filter(isTable).map(readTable),
        text: blocks.filter((block) => !isTable(block)).join("\n\n"),
      };
    });
  const ofType = new RegExp(`^${type}(?=[\\s,(])`);
  return {
    measured: sections.filter(({ title }) => ofType.test(title)),
    thresholds: sections.filter(
      ({ title }) => ofType.test(title.replace(/^Thresholds of /, "")) && !ofType.test(title),
    ),
  };
}

function readTable(block: string): Table {
  return block
    .split("\n")
    .filter((line) => !/^\|[\s|:-]*\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
}

/** The maximum number of rows of a table on a page. The card has all of them. */
const MAX_ROWS = 25;

/** The table for a page: that by language if there is one, otherwise the first; only the totals of a long one. */
export function shownTable(tables: readonly Table[]): Table | undefined {
  const table = tables.find(([titles]) => titles?.[0] === "lang") ?? tables[0];
  if (!table || table.length <= MAX_ROWS) return table;
  const [titles = [], ...rows] = table;
  return [titles, ...rows.filter(([name = ""]) => /^all\b/.test(name))];
}
