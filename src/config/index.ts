import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import type { Scanner, Side } from "../scan/scanner.ts";
import { createScanner, scannerClass, scannerClasses } from "../scanners/catalog.ts";
import {
  type DefinedScanner,
  isDefinedScanner,
  type ScannerClass,
  type ScannerEnvironment,
} from "../scanners/definition.ts";
import type { ScannerLists } from "../service/service-types.ts";
import { didYouMean } from "../support/did-you-mean.ts";
import type { Environment } from "../support/environment.ts";
import { GuardValidationError, type ValidationIssue } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { fromSnakeCase, parseOptions, toSnakeCase } from "../support/options.ts";
import { coerceExpanded, type Expanded, expandEnvironment } from "./environment.ts";
import { MAIN_PROFILE } from "./main-profile.ts";
import { withPlugins } from "./plugins.ts";
import { LISTS, type ProfileConfig, profilesOf } from "./profiles.ts";
import { type Config, type ConfigInput, configSchema, profile, type ScannerEntry } from "./schema.ts";
import { shadowSettings } from "./shadow.ts";
import { parseYaml, type YamlSource } from "./source.ts";

export type { AuditSettings } from "./audit.ts";
export { MAIN_PROFILE } from "./main-profile.ts";
export { type ConfiguredPlugin, pluginsOf } from "./plugins.ts";
export { type ProfileConfig, profilesOf } from "./profiles.ts";
export { parseRates, type Rate } from "./rate-limit.ts";
export type { RedisSettings } from "./redis.ts";
export type { AuthEntry, Config, ConfigInput, ScannerEntry } from "./schema.ts";
export { type ShadowSettings, shadowSettings } from "./shadow.ts";

/**
 * Reads and checks a configuration file, with `${NAME:default}` replaced from the environment, and loads its plugins.
 *
 * @param content what the file says, where that has been read already.
 * @throws GuardValidationError with the path and line of every value at fault.
 */
export async function loadConfig(path: string, env: Environment = process.env, content?: string): Promise<Config> {
  const text = content ?? (await readConfig(path));
  const file = readFileText(text, env, basename(path));
  const { expanded } = file;
  const folder = dirname(resolve(path));
  const config = checkFile({
    ...file,
    expanded: { ...expanded, value: await withPlugins(expanded.value, folder, expanded.issues) },
  });
  return config.shadow === undefined ? config : { ...config, shadow: shadowSettings(config.shadow, folder) };
}

/**
 * Reads a configuration file, and looks at nothing in it.
 *
 * @throws GuardValidationError for a file that cannot be read.
 */
export async function readConfig(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new GuardValidationError([{ path: "", message: `cannot read ${path}: ${reason}` }], { cause: error });
  }
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
  const camel = attempt(issues, () => inCamelCase(dropEmptySections(value), paths));
  const parsed =
    camel === undefined ? undefined : attempt(issues, () => parseOptions(configSchema, camel, "snake_case"));
  const config = parsed ?? (camel as ConfigInput);
  for (const [holder, prefix] of listHolders(config)) {
    for (const [side, list, name] of LISTS) {
      const entries: unknown = holder[list];
      if (!Array.isArray(entries)) continue;
      for (const [index, entry] of entries.entries()) {
        if (isScannerEntry(entry)) attempt(issues, () => checkParams(side, entry, `${prefix}${name}.${index}`, paths));
      }
    }
  }
  if (parsed) attempt(issues, () => checkWhole(parsed));
  if (issues.length > 0 || !parsed)
    throw new GuardValidationError(distinct(issues).map((issue) => located(named(issue, paths), source, file)));
  return parsed;
}

/** The keys of a file as the schemas spell them, and the values from the environment with the types that are due. */
function inCamelCase(value: unknown, paths: Expanded["paths"]): unknown {
  const camel = coerceExpanded(configSchema, fromSnakeCase(configSchema, value), paths);
  if (!isRecord(camel) || !isRecord(camel.profiles)) return camel;
  // The names of profiles are free, so that what is behind them is not reached from the schema of the whole file.
  const profiles = Object.entries(camel.profiles).map(([name, settings]) => {
    const at = `profiles.${name}`;
    const named = below(at, () => fromSnakeCase(profile, dropEmptySections(settings)));
    return [name, coerceExpanded(profile, named, paths, at)];
  });
  return { ...camel, profiles: Object.fromEntries(profiles) };
}

/** What has lists of scanners in a configuration, checked or not, with the beginning of their paths. */
function listHolders(config: unknown): [holder: Record<string, unknown>, prefix: string][] {
  if (!isRecord(config)) return [];
  const profiles = isRecord(config.profiles) ? Object.entries(config.profiles) : [];
  return [
    [config, ""],
    ...profiles.flatMap(([name, holder]) =>
      isRecord(holder) ? [[holder, `profiles.${name}.`] as [Record<string, unknown>, string]] : [],
    ),
  ];
}

/**
 * Checks a configuration that a program wrote, and fills in the defaults.
 *
 * @throws GuardValidationError with the path of every value at fault.
 */
export function checkConfig(config: ConfigInput): Config {
  const checked = parseOptions(configSchema, config);
  const issues = profileIssues(checked);
  if (issues.length > 0) throw new GuardValidationError(issues);
  return checked;
}

/**
 * Builds the scanners of a configuration: those of its main profile, or of the profile whose configuration it is.
 *
 * @param environment what they are built in, such as the engine that loads their models.
 * @param at where the lists stand in the file, for errors.
 * @throws GuardValidationError with the path of every value at fault.
 */
export function buildScanners(
  config: Config,
  environment: ScannerEnvironment = {},
  at: ProfileConfig["paths"] = { input: "input_scanners", output: "output_scanners" },
): ScannerLists {
  const issues: ValidationIssue[] = [];
  const lists: Record<Side, Scanner[]> = { input: [], output: [] };
  for (const [side, list] of LISTS) {
    for (const [index, entry] of config[list].entries()) {
      const prefix = `${at[side]}.${index}`;
      const scanner = attempt(issues, () => buildScanner(side, entry, config, environment, prefix));
      if (scanner) lists[side].push(scanner);
    }
  }
  if (issues.length > 0) {
    // Scanners name their options in camelCase, while files are in snake_case.
    throw new GuardValidationError(issues.map(({ path, message }) => ({ path: toSnakeCase(path), message })));
  }
  return lists;
}

/**
 * Builds a scanner of a configuration.
 *
 * @param prefix the path of its entry, for errors.
 * @throws GuardValidationError with the paths of the values at fault.
 */
export function buildScanner(
  side: Side,
  entry: ScannerEntry,
  { app }: Config,
  environment: ScannerEnvironment,
  prefix = "",
): Scanner {
  const { options } = knownClass(side, entry.type, prefix);
  const params = () => withCommonDefaults(options, namedParams(entry), app);
  return belowParams(prefix, () => createScanner(side, entry.type, params(), environment));
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
  return below(prefix, () => scannerClass(side, type));
}

function checkWhole(config: Config): void {
  const issues = profileIssues(config).map(({ path, message }) => ({ path: toSnakeCase(path), message }));
  for (const { name, config: own } of profilesOf(config)) {
    const prefix = name === MAIN_PROFILE ? "" : `profiles.${name}.`;
    issues.push(...issuesOf(own).map(({ path, message }) => ({ path: prefix + path, message })));
  }
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/** What is wrong with the names of profiles that credentials have. */
function profileIssues({ auth = [], profiles }: Config): ValidationIssue[] {
  const names = [MAIN_PROFILE, ...Object.keys(profiles)];
  const unknown = (name: string) =>
    `unknown profile ${name}${didYouMean(name, names) || `; known are: ${names.join(", ")}`}`;
  return auth.flatMap(({ profile: own, mayChoose }, index) =>
    [
      ...(own === undefined ? [] : [[own, "profile"] as const]),
      ...(mayChoose ?? []).map((name, at) => [name, `mayChoose.${at}`] as const),
    ].flatMap(([name, path]) =>
      names.includes(name) ? [] : [{ path: `auth.${index}.${path}`, message: unknown(name) }],
    ),
  );
}

function issuesOf(config: Config): ValidationIssue[] {
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
  return issues;
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
  return below(`${prefix}.params`, check);
}

function below<T>(path: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof GuardValidationError ? error.within(path) : error;
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
