import { z } from "zod";
import type { ScoringFunction } from "../conversation/scan-conversation.ts";
import { SOURCES } from "../scan/source.ts";
import { scannerTypes } from "../scanners/catalog.ts";
import { defineScanner } from "../scanners/define-scanner.ts";
import type { DefinedScanner, PluginScannerDefinition, ScannerBody } from "../scanners/definition.ts";
import { type CustomNerModel, isCustomNerModel } from "../scanners/parts/custom-ner-model.ts";
import type { Recognizer } from "../scanners/parts/recognizers.ts";
import type { InjectionClassifier } from "../scanners/prompt-injection/custom-classifier.ts";
import { GuardError, GuardValidationError, type ValidationIssue } from "../support/errors.ts";
import { isRecord } from "../support/is-record.ts";
import { lazy } from "../support/lazy.ts";
import { parseOptions } from "../support/options.ts";
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

const flag = z.boolean().optional();

/** The fields of a definition that guard uses before it builds the scanner. */
const definitionSchema = lazy(() =>
  z.looseObject({
    type: z
      .string()
      .regex(/^[A-Za-z][\w.-]{0,99}$/, "expected a name of letters, digits, dots, hyphens and underscores")
      .refine((type) => !isBuiltIn(type), "a built-in scanner has this type"),
    summary: z.string().min(1),
    sides: z
      .strictObject({ input: z.looseObject({}).optional(), output: z.looseObject({}).optional() })
      .refine(({ input, output }) => input || output, "expected input, output or both"),
    options: z
      .custom<object>(
        (value) => value instanceof Object && "~standard" in value,
        "expected a schema, such as one of zod",
      )
      .optional(),
    conversation: z
      .strictObject({
        window: flag,
        sources: z.array(z.enum(SOURCES)).optional(),
        history: flag,
        dependsOnOthers: flag,
      })
      .optional(),
    comparesWithPrompt: flag,
    detects: flag,
    findings: z.array(z.looseObject({ type: z.string() })).optional(),
    examples: z.looseObject({ passes: z.array(z.unknown()), fails: z.array(z.unknown()) }).optional(),
    create: z.custom((value) => typeof value === "function", "expected a function"),
  }),
);

function isBuiltIn(type: string): boolean {
  return (["input", "output"] as const).some((side) => scannerTypes(side).includes(type));
}

function toScanner(value: object): DefinedScanner {
  parseOptions(definitionSchema(), value);
  const definition = value as PluginScannerDefinition;
  // The plugin may use another copy of guard, or none, so the class is defined here.
  return defineScanner({
    ...definition,
    create: (build) => createBody(definition, () => definition.create(build)),
  });
}

const BODY = lazy(() =>
  z.looseObject({
    sanitizes: flag,
    leavesFindings: flag,
    vaultScope: z.enum(["call", "own"]).optional(),
    ...Object.fromEntries(
      ["load", "close", "detect"].map((name) => [
        name,
        z.custom((value) => typeof value === "function", "expected a function").optional(),
      ]),
    ),
    check: z.custom((value) => typeof value === "function", "expected a function"),
  }),
);

/** Builds a scanner of a plugin. Every error is one of the configuration. */
function createBody({ type, detects = false }: PluginScannerDefinition, create: () => ScannerBody): ScannerBody {
  let body: ScannerBody;
  try {
    body = create();
  } catch (error) {
    throw new GuardValidationError(issuesOf(error) ?? [{ path: "", message: `${type}: ${messageOf(error)}` }], {
      cause: error,
    });
  }
  try {
    parseOptions(BODY(), body);
    if (detects && !body.detect) throw invalid("detect: expected a function, because the definition has detects: true");
  } catch (error) {
    throw invalid(`create() of ${type} did not return a scanner: ${messageOf(error)}`);
  }
  // Do not copy the object: it may be an instance of a class.
  return body;
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

function invalid(message: string): GuardValidationError {
  return new GuardValidationError([{ path: "", message }]);
}
