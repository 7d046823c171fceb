import type { ScoringFunction } from "../conversation/scan-conversation.ts";
import { checkOwnType } from "../scanners/catalog.ts";
import { defineScanner } from "../scanners/define-scanner.ts";
import type { Build, DefinedScanner, PluginScannerDefinition, ScannerBody } from "../scanners/definition.ts";
import { type CustomNerModel, isCustomNerModel } from "../scanners/parts/custom-ner-model.ts";
import type { Recognizer } from "../scanners/parts/recognizers.ts";
import { checkDefinition } from "../scanners/plugin-definition.ts";
import type { InjectionClassifier } from "../scanners/prompt-injection/custom-classifier.ts";
import { GuardError, GuardValidationError, type ValidationIssue } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { describeKind } from "../support/schema-messages.ts";

/** The types of loaded plugins by kind. */
export interface Plugins {
  scanner: DefinedScanner;
  recognizer: Recognizer;
  classifier: InjectionClassifier;
  "scoring function": ScoringFunction;
  "NER model": CustomNerModel;
}

/** Descriptions of the expected exports. */
const EXPECTED: Readonly<Record<keyof Plugins, string>> = {
  scanner: "the definition of a scanner for defineScanner",
  recognizer: "a function (text) => [{ start, end, type, score }]",
  classifier: "a function (text) => probability",
  "scoring function": "a function (text) => number",
  "NER model": "a NER model { types: [...], find(text) }",
};

/**
 * Turns the export of a module into a plugin.
 *
 * @throws GuardValidationError with an empty path if it is no plugin of the kind.
 */
export function toPlugin<Kind extends keyof Plugins>(kind: Kind, value: unknown): Plugins[Kind] {
  const refuse = () => {
    throw new GuardValidationError([
      { path: "", message: `expected ${EXPECTED[kind]}, got ${isRecord(value) ? "an object" : describeKind(value)}` },
    ]);
  };
  if (kind === "scanner") return toScanner(findDefinition(value) ?? refuse()) as Plugins[Kind];
  if (kind === "NER model" ? !isCustomNerModel(value) : typeof value !== "function") refuse();
  return value as Plugins[Kind];
}

/** Returns the definition in a value, which may be a result of `defineScanner`. */
function findDefinition(value: unknown): object | undefined {
  if (isRecord(value) && typeof value.create === "function") return value;
  const { definition } = (typeof value === "function" || isRecord(value) ? value : {}) as { definition?: unknown };
  return isRecord(definition) ? definition : undefined;
}

function toScanner(value: object): DefinedScanner {
  checkDefinition(value);
  const definition = value as PluginScannerDefinition;
  checkOwnType(definition.type);
  // The plugin may use another copy of guard, or none, so the class is defined here.
  return defineScanner({ ...definition, create: (build) => createBody(definition, build) });
}

/** Builds a scanner of a plugin. Every error is one of the configuration. */
function createBody(definition: PluginScannerDefinition, build: Build<object>): ScannerBody {
  try {
    // Do not copy the object: it may be an instance of a class.
    return definition.create(build);
  } catch (error) {
    const issues = issuesOf(error) ?? [{ path: "", message: `${definition.type}: ${messageOf(error)}` }];
    throw new GuardValidationError(issues, { cause: error });
  }
}

/** Returns the issues of a validation error, which may come from another copy of guard; undefined for other errors. */
function issuesOf(error: unknown): readonly ValidationIssue[] | undefined {
  if (error instanceof GuardValidationError) return error.issues;
  const { code, issues } = (error ?? {}) as { code?: unknown; issues?: unknown };
  if (code !== "GUARD_VALIDATION" || !Array.isArray(issues) || issues.length === 0) {
    return error instanceof GuardError ? [{ path: error.path ?? "", message: error.message }] : undefined;
  }
  return issues.map(({ path, message }) => ({ path: String(path), message: String(message) }));
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : `it threw ${describeKind(error)}`;
}
