import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { settingDifferences } from "../../config/differences.ts";
import { ignoredKeys } from "../../config/ignored-keys.ts";
import {
  buildScanner,
  buildScanners,
  type Config,
  parseConfig,
  profilesOf,
  type ScannerEntry,
} from "../../config/index.ts";
import { LISTS } from "../../config/profiles.ts";
import { parseYaml } from "../../config/source.ts";
import { Engine } from "../../models/engine.ts";
import { describeModel, type ModelDescription } from "../../models/model-description.ts";
import { describeMode } from "../../scan/describe-mode.ts";
import type { Mode } from "../../scan/mode.ts";
import type { Scanner, Side } from "../../scan/scanner.ts";
import { scannerClasses } from "../../scanners/catalog.ts";
import { differencesOf } from "../../scanners/difference.ts";
import { modelNames } from "../../scanners/model-names.ts";
import { GuardError, GuardValidationError } from "../../support/errors.ts";
import { isRecord } from "../../support/is-record.ts";
import { LONG_TEXTS } from "../bench/ordinary-texts.ts";
import { formatMilliseconds, SLOW, timed } from "../bench/timing.ts";
import { describeFalseAlarms } from "./false-alarms.ts";

/** A note on a line of a configuration file. */
export interface Note {
  /** The line, from 1, if known. */
  line?: number;
  /** The path of the value, such as `input_scanners.0`. */
  path: string;
  /**
   * `runs`: a scanner that runs; `mode`: a scanner that only monitors or is off; `slow`: a scanner that was measured to be slow; `alarms`: a scanner that fails ordinary texts; `differs`: a difference from llm-guard; `download`: a
   * model that has to be downloaded; `ignored`: a key without effect; `fails`: an error that prevents the start.
   */
  kind: "runs" | "mode" | "slow" | "alarms" | "differs" | "download" | "ignored" | "fails";
  text: string;
}

/** How long a scanner is measured, and the minimum number of scans. */
const MEASUREMENT = { seconds: 0.1, minCalls: 5 };

/**
 * Reads a configuration file of guard or llm-guard and makes notes on it, in the order of its lines.
 *
 * @param measures whether to measure the scanners whose models are on this machine.
 */
export async function fileReport(path: string, measures: boolean): Promise<Note[]> {
  const text = await readFile(path, "utf8");
  let config: Config;
  try {
    config = parseConfig(text, { env: process.env, file: basename(path) });
  } catch (error) {
    return errorNotes(error, () => undefined);
  }
  const { value, lineOf } = parseYaml(text);
  const engine = Engine.fromEnvironment();
  try {
    const notes: Note[] = [
      ...settingDifferences(value).map((item): Note => ({ ...item, kind: "differs" })),
      ...ignoredKeys(config).flatMap(({ paths, reason }) =>
        paths.map((path): Note => ({ path, kind: "ignored", text: `does nothing: ${reason}` })),
      ),
      ...(await scannerListNotes(config, engine, measures)),
    ];
    const shown = isOwnFile(text, value) ? notes.filter(({ kind }) => kind !== "differs") : notes;
    return sortByLine(shown.map((note) => withLine(note, lineOf)));
  } catch (error) {
    return errorNotes(error, lineOf);
  } finally {
    await engine.close();
  }
}

/** The sections of llm-guard's file, and the keys of its section app. */
const LLM_GUARD_SECTIONS = [
  "app",
  "rate_limit",
  "cache",
  "auth",
  "tracing",
  "metrics",
  "input_scanners",
  "output_scanners",
];
const LLM_GUARD_APP = [
  "name",
  "port",
  "log_level",
  "log_json",
  "scan_fail_fast",
  "scan_prompt_timeout",
  "scan_output_timeout",
  "lazy_load",
];

/** Whether a file was written for guard: it names guard's schema, or has settings that llm-guard does not have. */
function isOwnFile(text: string, value: unknown): boolean {
  if (/^# yaml-language-server: \$schema=.*scanners\.schema\.json/m.test(text)) return true;
  if (!isRecord(value)) return false;
  const app = isRecord(value.app) ? Object.keys(value.app) : [];
  return (
    Object.keys(value).some((key) => !LLM_GUARD_SECTIONS.includes(key)) ||
    app.some((key) => !LLM_GUARD_APP.includes(key))
  );
}

/** Notes on the scanners of all lists, each list once: a profile inherits the lists that it does not override. */
async function scannerListNotes(config: Config, engine: Engine, measures: boolean): Promise<Note[]> {
  const notes: Note[] = [];
  const seen = new Set<string>();
  for (const { config: own, paths } of profilesOf(config)) {
    const lists = buildScanners(own, { engine });
    for (const [side, key] of LISTS) {
      const list = paths[side];
      if (seen.has(list)) continue;
      seen.add(list);
      for (const [index, entry] of own[key].entries()) {
        const scanner = lists[side][index] as Scanner;
        const ofScanner = await scannerNotes({
          side,
          entry,
          scanner,
          list: lists[side],
          engine,
          config: own,
          measures,
        });
        notes.push(...ofScanner.map((note) => ({ path: `${list}.${index}`, ...note })));
      }
    }
  }
  return notes;
}

interface ListedScanner {
  side: Side;
  entry: ScannerEntry;
  scanner: Scanner;
  /** All scanners of the list. */
  list: readonly Scanner[];
  engine: Engine;
  config: Config;
  measures: boolean;
}

async function scannerNotes(listed: ListedScanner): Promise<Omit<Note, "path">[]> {
  const { side, entry, scanner, engine, config, measures } = listed;
  const models = modelNames(scanner).map((name) => describeModel(name, engine));
  const missing = models.filter(({ here }) => !here);
  const type = typeof entry.type === "string" ? scannerClasses(side).get(entry.type) : undefined;
  let milliseconds: number | undefined;
  let alarms: string | undefined;
  try {
    if (measures && missing.length === 0) {
      milliseconds = await measureScanner(side, scanner);
      if (side === "input" || type?.definition.comparesWithPrompt === undefined) alarms = await falseAlarms(listed);
    }
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    return [{ kind: "fails", text: `${scanner.name} does not run: ${error.message}` }];
  }
  return [
    ...timeNotes(listed, models, milliseconds),
    ...modeNotes(listed),
    ...(alarms === undefined ? [] : [{ kind: "alarms", text: alarms } as const]),
    ...missing.map(({ model, isIncomplete }) =>
      isIncomplete ? incompleteNote(model) : downloadNote(model, config.app.lazyLoad),
    ),
    ...differencesOf(type?.definition.differences, entry.params).map(
      (text) => ({ kind: "differs", text: text.replaceAll("`", "") }) as const,
    ),
  ];
}

/** Notes on a scanner that has no effect on texts, or not on all of them. */
function modeNotes({ side, scanner, config: { app } }: ListedScanner): Omit<Note, "path">[] {
  const describe = (mode: Mode) => describeMode({ name: scanner.name, scanner, side, mode: app.mode }, mode);
  const [monitoring, off] = [describe("monitor"), describe("off")];
  return [
    ...(monitoring ? [`${monitoring} only monitors: failing texts go on unchanged`] : []),
    ...(off ? [`${off} is off`] : []),
  ].map((text) => ({ kind: "mode", text }));
}

function falseAlarms({ side, entry, scanner, engine, config }: ListedScanner): Promise<string | undefined> {
  const create = (params: Record<string, unknown>) => buildScanner(side, { ...entry, params }, config, { engine });
  return describeFalseAlarms(side, scanner, entry.params, create);
}

/** A note on the scanner and its models, with the time if it was measured, and one more if the scanner is slow. */
function timeNotes(
  { scanner, list }: ListedScanner,
  models: readonly ModelDescription[],
  milliseconds: number | undefined,
): Omit<Note, "path">[] {
  const withModels = models.length > 0 ? ` with ${models.map(modelText).join(" and ")}` : "";
  const runs = { kind: "runs", text: `${scanner.name}${withModels}` } as const;
  if (milliseconds === undefined) return [runs];
  const time = `${formatMilliseconds(milliseconds)} ms for 1,000 characters here`;
  if (milliseconds < SLOW) return [{ ...runs, text: `${runs.text}, ${time}` }];
  const sharing = list.filter(
    (other) => other !== scanner && models.some(({ model }) => modelNames(other).includes(model)),
  );
  const names = sharing.map(({ name }) => name).join(", ");
  const sharingText = sharing.length > 0 ? `; ${names} use${sharing.length > 1 ? "" : "s"} the same model` : "";
  return [runs, { kind: "slow", text: `${time}${sharingText}` }];
}

function incompleteNote(model: string): Omit<Note, "path"> {
  return {
    kind: "fails",
    text: `${model} is no model for guard: it needs config.json, tokenizer.json and an ONNX file, which optimum-cli export onnx makes`,
  };
}

function downloadNote(model: string, lazyLoad: boolean): Omit<Note, "path"> {
  const command = `guard-scan models pull ${model}`;
  return lazyLoad
    ? {
        kind: "fails",
        text: `with app.lazy_load the server downloads no models: download ${model} with ${command}`,
      }
    : {
        kind: "download",
        text: `${model} is downloaded from the Hugging Face hub at the start, or now with ${command}`,
      };
}

function modelText({ model, size, license, languages }: ModelDescription): string {
  const facts = [
    ...(size === undefined ? [] : [`${(size / 1e6).toFixed(1)} MB`]),
    ...(license === undefined ? [] : [license]),
    ...(languages === undefined ? [] : [`languages: ${languagesText(languages)}`]),
  ];
  return facts.length > 0 ? `${model} (${facts.join("; ")})` : model;
}

/** The languages of a model, or of each head: `en, ru`, or `toxicity: en, ru; emotion: en`. */
function languagesText(languages: NonNullable<ModelDescription["languages"]>): string {
  if (Array.isArray(languages)) return languages.join(", ");
  return Object.entries(languages)
    .map(([head, codes]) => `${head}: ${codes.join(", ")}`)
    .join("; ");
}

/** The median time of a scan of an ordinary text of 1,000 characters, in milliseconds. */
async function measureScanner(side: Side, scanner: Scanner): Promise<number> {
  await scanner.load?.();
  const { p50 } = await timed((index) => {
    const [text = "", prompt = ""] = [index, index + 1].map((at) => LONG_TEXTS[at % LONG_TEXTS.length]);
    return scanner.scan(text, side === "output" ? { prompt } : {});
  }, MEASUREMENT);
  return p50;
}

function errorNotes(error: unknown, lineOf: (path: string) => number | undefined): Note[] {
  if (!(error instanceof GuardValidationError)) throw error;
  return error.issues.map(({ path, message }): Note => {
    // Messages about a value of the file end with its line.
    const [, text = message, line] = /^(.*) \((?:[^()]*:|line )(\d+)\)$/s.exec(message) ?? [];
    const number = line === undefined ? lineOf(path) : Number(line);
    return { path, kind: "fails", text, ...(number === undefined ? {} : { line: number }) };
  });
}

function withLine(note: Note, lineOf: (path: string) => number | undefined): Note {
  const line = lineOf(note.path);
  return line === undefined ? note : { line, ...note };
}

/** Sorts notes by line. Notes on the same line keep their order. */
function sortByLine(notes: readonly Note[]): Note[] {
  return [...notes].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
