import type { Scanner, ScannerLists, Side } from "../scan/scanner.ts";
import { createScanner, scannerClass } from "../scanners/catalog.ts";
import type { DefinedScanner, ScannerClass, ScannerEnvironment } from "../scanners/definition.ts";
import { GuardValidationError, type ValidationIssue } from "../support/errors.ts";
import { toSnakeCase } from "../support/options.ts";
import { collectIssues, withPrefix } from "./issues.ts";
import { LISTS, type ProfileConfig } from "./profiles.ts";
import type { Config, ScannerEntry } from "./schema.ts";

/**
 * Builds the scanners of a configuration, for its main profile.
 *
 * @param environment such as the engine that loads models.
 * @param paths of the lists in the file, for errors.
 * @throws GuardValidationError with the path of every invalid value.
 */
export function buildScanners(
  config: Config,
  environment: ScannerEnvironment = {},
  paths: ProfileConfig["paths"] = { input: "input_scanners", output: "output_scanners" },
): ScannerLists {
  const issues: ValidationIssue[] = [];
  const lists: Record<Side, Scanner[]> = { input: [], output: [] };
  for (const [side, list] of LISTS) {
    for (const [index, entry] of config[list].entries()) {
      const prefix = `${paths[side]}.${index}`;
      const scanner = collectIssues(issues, () => buildScanner(side, entry, config, environment, prefix));
      if (scanner) lists[side].push(scanner);
    }
  }
  if (issues.length > 0) {
    // Scanners name options in camelCase, files in snake_case.
    throw new GuardValidationError(issues.map(({ path, message }) => ({ path: toSnakeCase(path), message })));
  }
  return lists;
}

/**
 * Builds a scanner of a configuration.
 *
 * @param prefix the path of its entry, for errors.
 * @throws GuardValidationError with the paths of the invalid values.
 */
export function buildScanner(
  side: Side,
  entry: ScannerEntry,
  { app }: Config,
  environment: ScannerEnvironment,
  prefix = "",
): Scanner {
  const { options } = findClass(side, entry.type, prefix);
  const params = () => withCommonDefaults(options, entryParams(entry), app);
  return withPrefix(`${prefix}.params`, () => createScanner(side, entry.type, params(), environment));
}

/** Adds the defaults of the section `app` for scanners with such an option. */
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
 * Returns the parameters with the name and the mode of the entry.
 *
 * @throws GuardValidationError if an entry has a name, or a mode, and its `params` have another.
 */
export function entryParams({ name, mode, params }: ScannerEntry): Record<string, unknown> {
  const given = { name, mode };
  const twice = (["name", "mode"] as const).filter((key) => given[key] !== undefined && params[key] !== undefined);
  if (twice.length > 0) {
    const message = "is given twice: in params and beside it";
    throw new GuardValidationError(twice.map((path) => ({ path, message })));
  }
  return { ...params, ...(name === undefined ? {} : { name }), ...(mode === undefined ? {} : { mode }) };
}

/** Finds the class of a scanner; `prefix` is the path of its entry. */
export function findClass(side: Side, type: string | DefinedScanner, prefix: string): ScannerClass {
  return withPrefix(prefix, () => scannerClass(side, type));
}
