import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { z } from "zod";
import type { Side } from "../scan/scanner.ts";
import { isDefinedScanner, type ScannerClass } from "../scanners/definition.ts";
import type { Environment } from "../support/environment.ts";
import { GuardValidationError } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { fromSnakeCase, parseOptions } from "../support/options.ts";
import { entryParams, findClass } from "./build-scanners.ts";
import { checkSections } from "./check-config.ts";
import { coerceExpanded, type ExpandedFile, expandEnvironment } from "./environment.ts";
import { collectIssues, distinctIssues, withFileName, withLine, withPrefix, withVariables } from "./issues.ts";
import { withPlugins } from "./plugins.ts";
import { LISTS } from "./profiles.ts";
import { type Config, type ConfigInput, configSchema, profile, type ScannerEntry } from "./schema.ts";
import { shadowSettings } from "./shadow.ts";
import { parseYaml, type YamlSource } from "./source.ts";

/**
 * Reads and validates a configuration file, expands `${NAME:default}` from the environment, and loads plugins.
 *
 * @param content of the file, if it was read already.
 * @throws GuardValidationError with the path and line of every invalid value.
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
 * Reads a configuration file without parsing it.
 *
 * @throws GuardValidationError if it cannot be read.
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
 * Validates the text of a configuration file. It loads no plugins: a plugin in the text is an error.
 *
 * @throws GuardValidationError with the path and line of every invalid value.
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
  expanded: ExpandedFile;
}

function readFileText(text: string, env: Environment, name: string): ConfigFile {
  const source = withFileName(name, () => parseYaml(text));
  if (source.value === null || source.value === undefined) {
    throw new GuardValidationError([{ path: "", message: `${name}: the file is empty` }]);
  }
  return { name, source, expanded: expandEnvironment(source.value, env) };
}

function checkFile({ name: file, source, expanded }: ConfigFile): Config {
  const { value, paths, issues } = expanded;
  const camel = collectIssues(issues, () => toCamelCase(dropEmptySections(value), paths));
  const parsed =
    camel === undefined ? undefined : collectIssues(issues, () => parseOptions(configSchema, camel, "snake_case"));
  const config = parsed ?? (camel as ConfigInput);
  for (const [holder, prefix] of listHolders(config)) {
    for (const [side, list, name] of LISTS) {
      const entries: unknown = holder[list];
      if (!Array.isArray(entries)) continue;
      for (const [index, entry] of entries.entries()) {
        if (isScannerEntry(entry))
          collectIssues(issues, () => checkParams(side, entry, `${prefix}${name}.${index}`, paths));
      }
    }
  }
  if (parsed) collectIssues(issues, () => checkSections(parsed));
  if (issues.length > 0 || !parsed)
    throw new GuardValidationError(
      distinctIssues(issues).map((issue) => withLine(withVariables(issue, paths), source, file)),
    );
  return parsed;
}

/** Converts keys to camelCase, and values of the environment to the types of the schema. */
function toCamelCase(value: unknown, paths: ExpandedFile["paths"]): unknown {
  const camel = coerceExpanded(configSchema, fromSnakeCase(configSchema, value), paths);
  if (!isRecord(camel) || !isRecord(camel.profiles)) return camel;
  // Names of profiles are arbitrary, so the schema of the file does not reach their settings.
  const profiles = Object.entries(camel.profiles).map(([name, settings]) => {
    const at = `profiles.${name}`;
    const named = withPrefix(at, () => fromSnakeCase(profile, dropEmptySections(settings)));
    return [name, coerceExpanded(profile, named, paths, at)];
  });
  return { ...camel, profiles: Object.fromEntries(profiles) };
}

/** Returns the objects of a configuration that have lists of scanners, with the prefix of their paths. */
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

/** Validates the parameters of an entry in place, and converts those from the environment. */
function checkParams(side: Side, entry: ScannerEntry, prefix: string, paths: ReadonlyMap<string, unknown>): void {
  const found = findClass(side, entry.type, prefix);
  withPrefix(`${prefix}.params`, () => {
    const given = fromSnakeCase(found.options, entryParams({ ...entry, params: entry.params ?? {} }));
    const camel = withoutNone(found.options, given as Record<string, unknown>);
    const params = coerceExpanded(found.options, camel, paths, `${prefix}.params`);
    parseOptions(found.options, params, "snake_case");
    entry.params = params as Record<string, unknown>;
    // `entryParams` has moved them to the parameters.
    delete entry.name;
    delete entry.mode;
  });
}

/**
 * Leaves out the parameters that are null and may be absent, as llm-guard writes its defaults. A null for a number or a boolean stays and is an
 * error: its author may believe that a threshold is set.
 */
function withoutNone(options: ScannerClass["options"], given: Record<string, unknown>): Record<string, unknown> {
  const shape: Readonly<Record<string, z.core.$ZodType>> = options.shape;
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => {
      const option = shape[name];
      if (value !== null || option === undefined || z.safeParse(option, null).success) return true;
      const absent = z.safeParse(option, undefined);
      return !absent.success || typeof absent.data === "number" || typeof absent.data === "boolean";
    }),
  );
}

/**
 * Removes empty sections, such as `cache:` with all lines commented out. An empty `auth:` stays and is an error, because its author may
 * believe that it protects the service.
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
