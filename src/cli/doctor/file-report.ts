import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { settingDifferences } from "../../config/differences.ts";
import { ignoredKeys } from "../../config/ignored-keys.ts";
import { buildScanners, type Config, parseConfig, profilesOf, type ScannerEntry } from "../../config/index.ts";
import { LISTS } from "../../config/profiles.ts";
import { parseYaml } from "../../config/source.ts";
import { Engine } from "../../models/engine.ts";
import { type ModelFacts, modelFacts } from "../../models/model-facts.ts";
import type { Scanner, Side } from "../../scan/scanner.ts";
import { scannerClasses } from "../../scanners/catalog.ts";
import { differencesOf } from "../../scanners/difference.ts";
import { modelNames } from "../../scanners/model-names.ts";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { LONG_TEXTS } from "../bench/ordinary-texts.ts";
import { milliseconds, SLOW, timed } from "../bench/timing.ts";

/** What there is to say of a line of a configuration file. */
export interface Note {
  /** The line, from 1, where it is known. */
  line?: number;
  /** The path of the value, such as `input_scanners.0`. */
  path: string;
  /**
   * `runs`: what is done; `slow`: it takes long, as measured here; `differs`: it is not as in llm-guard; `download`: a model has to
   * be downloaded; `ignored`: a key that does nothing; `fails`: it stops the start.
   */
  kind: "runs" | "slow" | "differs" | "download" | "ignored" | "fails";
  text: string;
}

/** How often a scanner is measured, at the least and for how long. */
const MEASURED = { seconds: 0.1, least: 5 };

/**
 * Reads a configuration file of guard or of llm-guard, and says what it does here, in the order of its lines.
 *
 * @param measured whether the scanners whose models are on this machine are run, to tell how long they take.
 */
export async function fileReport(path: string, measured: boolean): Promise<Note[]> {
  const text = await readFile(path, "utf8");
  const file = basename(path);
  let config: Config;
  try {
    config = parseConfig(text, { env: process.env, file });
  } catch (error) {
    return faults(error, () => undefined);
  }
  const { value, lineOf } = parseYaml(text);
  const engine = Engine.fromEnvironment();
  try {
    const notes: Note[] = [
      ...settingDifferences(value).map((item): Note => ({ ...item, kind: "differs" })),
      ...ignoredKeys(config).flatMap(({ paths, reason }) =>
        paths.map((path): Note => ({ path, kind: "ignored", text: `does nothing: ${reason}` })),
      ),
    ];
    /** The lists of which something was said: a profile that leaves a list out has the one outside of it. */
    const seen = new Set<string>();
    for (const { config: own, paths } of profilesOf(config)) {
      const lists = buildScanners(own, { engine });
      for (const [side, key] of LISTS) {
        const list = paths[side];
        if (seen.has(list)) continue;
        seen.add(list);
        for (const [index, entry] of own[key].entries()) {
          const scanner = lists[side][index] as Scanner;
          const about = await notesOf(side, entry, scanner, { engine, all: lists[side], config: own, measured });
          notes.push(...about.map((note) => ({ path: `${list}.${index}`, ...note })));
        }
      }
    }
    return inOrder(notes.map((note) => withLine(note, lineOf)));
  } catch (error) {
    return faults(error, lineOf);
  } finally {
    await engine.close();
  }
}

interface Surroundings {
  engine: Engine;
  /** All scanners of the list. */
  all: readonly Scanner[];
  config: Config;
  measured: boolean;
}

async function notesOf(
  side: Side,
  { type, params }: ScannerEntry,
  scanner: Scanner,
  { engine, all, config, measured }: Surroundings,
): Promise<Omit<Note, "path">[]> {
  const models = modelNames(scanner).map((name) => modelFacts(name, engine));
  const missing = models.filter(({ here }) => !here);
  let time: number | undefined;
  try {
    if (measured && missing.length === 0) time = await timeOf(side, scanner);
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    return [{ kind: "fails", text: `${scanner.name} does not run: ${error.message}` }];
  }
  const took = time === undefined ? "" : `${milliseconds(time)} ms for 1,000 characters here`;
  const shared = all.filter(
    (other) => other !== scanner && models.some(({ model }) => modelNames(other).includes(model)),
  );
  const together =
    shared.length > 0
      ? `; ${shared.map(({ name }) => name).join(", ")} use${shared.length > 1 ? "" : "s"} the same model`
      : "";
  const with_ = models.length > 0 ? ` with ${models.map(modelText).join(" and ")}` : "";
  const isSlow = time !== undefined && time >= SLOW;
  const differences = differencesOf(
    typeof type === "string" ? scannerClasses(side).get(type)?.definition.differences : undefined,
    params,
  );
  return [
    { kind: "runs", text: `${scanner.name}${with_}${took === "" || isSlow ? "" : `, ${took}`}` },
    ...(isSlow ? [{ kind: "slow", text: `${took}${together}` } as const] : []),
    ...missing.map(({ model }) => downloadOf(model, config.app.lazyLoad)),
    ...differences.map((text) => ({ kind: "differs", text: text.replaceAll("`", "") }) as const),
  ];
}

function downloadOf(model: string, lazyLoad: boolean): Omit<Note, "path"> {
  const command = `guard-scan models pull ${model}`;
  return lazyLoad
    ? {
        kind: "fails",
        text: `with app.lazy_load nothing is downloaded while the server runs: ${command} downloads ${model} before`,
      }
    : {
        kind: "download",
        text: `${model} is downloaded from the Hugging Face hub at the start, or before by ${command}; size and licence are known then`,
      };
}

function modelText({ model, size, license, languages }: ModelFacts): string {
  const facts = [
    ...(size === undefined ? [] : [`${(size / 1e6).toFixed(1)} MB`]),
    ...(license === undefined ? [] : [license]),
    ...(languages === undefined ? [] : [`languages: ${languagesText(languages)}`]),
  ];
  return facts.length > 0 ? `${model} (${facts.join("; ")})` : model;
}

/** Languages of a model, or those of its heads: `en, ru`, or `toxicity: en, ru; emotion: en`. */
function languagesText(languages: NonNullable<ModelFacts["languages"]>): string {
  if (Array.isArray(languages)) return languages.join(", ");
  return Object.entries(languages)
    .map(([head, codes]) => `${head}: ${codes.join(", ")}`)
    .join("; ");
}

/** The median of the milliseconds that a scanner takes for an ordinary text of a thousand characters. */
async function timeOf(side: Side, scanner: Scanner): Promise<number> {
  await scanner.load?.();
  const { p50 } = await timed((index) => {
    const [text = "", prompt = ""] = [index, index + 1].map((at) => LONG_TEXTS[at % LONG_TEXTS.length]);
    return scanner.scan(text, side === "output" ? { prompt } : {});
  }, MEASURED);
  return p50;
}

function faults(error: unknown, lineOf: (path: string) => number | undefined): Note[] {
  if (!(error instanceof GuardValidationError)) throw error;
  return error.issues.map(({ path, message }): Note => {
    // The message of a value at fault ends with its place already.
    const [, text = message, line] = /^(.*) \((?:[^()]*:|line )(\d+)\)$/s.exec(message) ?? [];
    const at = line === undefined ? lineOf(path) : Number(line);
    return { path, kind: "fails", text, ...(at === undefined ? {} : { line: at }) };
  });
}

function withLine(note: Note, lineOf: (path: string) => number | undefined): Note {
  const line = lineOf(note.path);
  return line === undefined ? note : { line, ...note };
}

/** Sorts notes by their lines. Notes of one line keep their order. */
function inOrder(notes: readonly Note[]): Note[] {
  return [...notes].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
