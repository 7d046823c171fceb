import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { GuardValidationError, type ValidationIssue } from "../errors.ts";
import type { Scanner, Side } from "../scanner.ts";
import { createScanner, scannerClass, scannerClasses } from "../scanners/catalog.ts";
import {
  type DefinedScanner,
  isDefinedScanner,
  type ScannerClass,
  type ScannerEnvironment,
} from "../scanners/define.ts";
import type { ScannerLists } from "../service.ts";
import { fromSnakeCase, parseOptions, toSnakeCase } from "../validation/options.ts";
import { coerceExpanded, type Environment, type Expanded, expandEnvironment } from "./environment.ts";
import { withPlugins } from "./plugins.ts";
import { type Config, type ConfigInput, configSchema, type ScannerEntry } from "./schema.ts";
import { parseYaml, type YamlSource } from "./source.ts";

export type { Environment } from "./environment.ts";
export { type ConfiguredPlugin, pluginsOf } from "./plugins.ts";
export { parseRates, type Rate } from "./rate-limit.ts";
export type { RedisSettings } from "./redis.ts";
export type { AuthEntry, Config, ConfigInput, ScannerEntry } from "./schema.ts";

/** The two lists of scanners by side, with their names in a file. */
const LISTS = [
  ["input", "inputScanners", "input_scanners"],
  ["output", "outputScanners", "output_scanners"],
] as const;

/**
 * Reads and checks a configuration file, with `${NAME:default}` replaced from the environment, and loads its plugins.
 *
 * @throws GuardValidationError with the path and line of every value at fault.
 */
export async function loadConfig(path: string, env: Environment = process.env): Promise<Config> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new GuardValidationError([{ path: "", message: `cannot read ${path}: ${reason}` }], { cause: error });
  }
  const file = readFileText(text, env, basename(path));
  const { expanded } = file;
  return checkFile({
    ...file,
    expanded: { ...expanded, value: await withPlugins(expanded.value, dirname(resolve(path)), expanded.issues) },
  });
}

/**
 * Checks the text of a configuration file. It loads no plugins: one that the text names is an error.
 *
 * @throws GuardValidationError with the path and line of every value at fault.
 */
export function parseConfig(
  text: string,
  { env = {}, file = "scanners.yml" }: { env?: Environment; file?: string } = {},
): Config {
  return checkFile(readFileText(text, env, file));
}

/** A parsed configuration file. */
interface ConfigFile {
  name: string;
  source: YamlSource;
  expanded: Expanded;
}

function readFileText(text: string, env: Environment, name: string): ConfigFile {
  const source = within(name, () => parseYaml(text));
  if (source.value === null || source.value === undefined) {
    throw new GuardValidationError([{ path: "", message: `${name}: the file is empty` }]);
  }
  return { name, source, expanded: expandEnvironment(source.value, env) };
}

function checkFile({ name: file, source, expanded }: ConfigFile): Config {
  const { value, paths, issues } = expanded;
  const camel = attempt(issues, () =>
    coerceExpanded(configSchema, fromSnakeCase(configSchema, dropEmptySections(value)), paths),
  );
  const parsed =
    camel === undefined ? undefined : attempt(issues, () => parseOptions(configSchema, camel, "snake_case"));
  const config = parsed ?? (camel as ConfigInput);
  for (const [side, list, name] of LISTS) {
    const entries: unknown = config?.[list];
    if (!Array.isArray(entries)) continue;
    for (const [index, entry] of entries.entries()) {
      if (isScannerEntry(entry)) attempt(issues, () => checkParams(side, entry, `${name}.${index}`, paths));
    }
  }
  if (parsed) attempt(issues, () => checkWhole(parsed));
  if (issues.length > 0 || !parsed)
    throw new GuardValidationError(distinct(issues).map((issue) => located(named(issue, paths), source, file)));
  return parsed;
}

/** Checks a configuration that a program wrote, and fills in the defaults. */
export function checkConfig(config: ConfigInput): Config {
  return parseOptions(configSchema, config);
}

/**
 * Builds the scanners of a configuration.
 *
 * @param environment what they are built in, such as the engine that loads their models.
 * @throws GuardValidationError with the path of every value at fault.
 */
export function buildScanners(config: Config, environment: ScannerEnvironment = {}): ScannerLists {
  const issues: ValidationIssue[] = [];
  const lists: Record<Side, Scanner[]> = { input: [], output: [] };
  for (const [side, list, name] of LISTS) {
    for (const [index, entry] of config[list].entries()) {
      const prefix = `${name}.${index}`;
      const scanner = attempt(issues, () => {
        const { options } = knownClass(side, entry.type, prefix);
        const params = () => withCommonDefaults(options, namedParams(entry), config.app);
        return belowParams(prefix, () => createScanner(side, entry.type, params(), environment));
      });
      if (scanner) lists[side].push(scanner);
    }
  }
  if (issues.length > 0) {
    // Scanners name their options in camelCase, while files are in snake_case.
    throw new GuardValidationError(issues.map(({ path, message }) => ({ path: toSnakeCase(path), message })));
  }
  return lists;
}

/** Adds to parameters what the section `app` says for all scanners that have such an option. */
function withCommonDefaults(
  { shape }: ScannerClass["options"],
  params: Record<string, unknown>,
  { onUntrainedLanguage }: Config["app"],
): Record<string, unknown> {
  if (onUntrainedLanguage === undefined || shape.onUntrainedLanguage === undefined) return params;
  const isGiven = params.onUntrainedLanguage !== undefined || params.on_untrained_language !== undefined;
  return isGiven ? params : { ...params, onUntrainedLanguage };
}

/**
 * The parameters with the name that may stand beside them.
 *
 * @throws GuardValidationError for a name in both places.
 */
function namedParams({ name, params }: ScannerEntry): Record<string, unknown> {
  if (name === undefined) return params;
  if (params.name === undefined) return { ...params, name };
  throw new GuardValidationError([{ path: "name", message: "is given twice: beside params too" }]);
}

/** Checks parameters against the scanner's schema, and gives those from the environment their types, in place. */
function checkParams(side: Side, entry: ScannerEntry, prefix: string, paths: ReadonlyMap<string, unknown>): void {
  const found = knownClass(side, entry.type, prefix);
  belowParams(prefix, () => {
    const camel = fromSnakeCase(found.options, namedParams({ ...entry, params: entry.params ?? {} }));
    const params = coerceExpanded(found.options, camel, paths, `${prefix}.params`);
    parseOptions(found.options, params, "snake_case");
    entry.params = params as Record<string, unknown>;
    // The name is among the parameters now.
    delete entry.name;
  });
}

/** The class of a scanner that an entry of a list names; `prefix` is the path of the entry. */
function knownClass(side: Side, type: string | DefinedScanner, prefix: string): ScannerClass {
  try {
    return scannerClass(side, type);
  } catch (error) {
    throw error instanceof GuardValidationError ? error.within(prefix) : error;
  }
}

function checkWhole(config: Config): void {
  const issues: ValidationIssue[] = [];
  if (config.inputScanners.length + config.outputScanners.length === 0) {
    issues.push({ path: "input_scanners", message: "no scanners at all: every text would pass" });
  }
  const detecting = [...scannerClasses("input").values()].filter(({ definition }) => definition.detects);
  const known = detecting.map(({ type }) => type);
  const { enabled, scoringFunction } = config.conversation.risk;
  const detects = ({ type }: ScannerEntry) =>
    typeof type === "string" ? known.includes(type) : type.definition.detects === true;
  if (enabled && !scoringFunction && !config.inputScanners.some(detects)) {
    const message =
      `needs a scanner in input_scanners that tells the probability of an attack: ${known.join(" or ")}; ` +
      "or a scoring_function";
    issues.push({ path: "conversation.risk.enabled", message });
  }
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/**
 * Leaves out sections that have no content, such as `cache:` with all of its lines commented out. `auth:` stays, and is an error:
 * somebody may believe that it protects the service.
 */
function dropEmptySections(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key, section]) => section !== null || key === "auth"));
}

function isScannerEntry(entry: unknown): entry is ScannerEntry {
  const { type, params } = (entry ?? {}) as Partial<ScannerEntry>;
  return (
    (typeof type === "string" || isDefinedScanner(type)) &&
    (params === undefined || params === null || (typeof params === "object" && !Array.isArray(params)))
  );
}

/** Runs a check, and adds the issues of its error to the list. */
function attempt<T>(issues: ValidationIssue[], check: () => T): T | undefined {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof GuardValidationError)) throw error;
    issues.push(...error.issues);
    return undefined;
  }
}

function belowParams<T>(prefix: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof GuardValidationError ? error.within(`${prefix}.params`) : error;
  }
}

function within<T>(file: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof GuardValidationError)) throw error;
    throw new GuardValidationError(error.issues.map(({ path, message }) => ({ path, message: `${file}: ${message}` })));
  }
}

/** The first issue of each path: a value whose variable is not set would be reported as of the wrong type too. */
function distinct(issues: readonly ValidationIssue[]): ValidationIssue[] {
  return [...new Map(issues.toReversed().map((issue) => [issue.path, issue])).values()].reverse();
}

/** Names the variables that a value at fault came from: they are what the user has to change. */
function named({ path, message }: ValidationIssue, variables: ReadonlyMap<string, readonly string[]>): ValidationIssue {
  const others = variables.get(toSnakeCase(path))?.filter((name) => !message.includes(name)) ?? [];
  return { path, message: others.length > 0 ? `${message}; the value comes from ${others.join(", ")}` : message };
}

function located(
  { path, message }: ValidationIssue,
  { lineOf }: { lineOf(path: string): number | undefined },
  file: string,
): ValidationIssue {
  const line = lineOf(path);
  return { path, message: `${message} (${file}${line === undefined ? "" : `:${line}`})` };
}
