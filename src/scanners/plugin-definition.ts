import { z } from "zod";
import { SOURCES } from "../scan/source.ts";
import { GuardValidationError } from "../support/errors.ts";
import { lazy } from "../support/lazy.ts";
import { parseOptions } from "../support/options.ts";
import type { AnyScannerDefinition, ScannerBody } from "./definition.ts";

const flag = z.boolean().optional();

const definitionSchema = lazy(() =>
  z.looseObject({
    type: z
      .string()
      .regex(/^[A-Za-z][\w.-]{0,99}$/, "expected a name of letters, digits, dots, hyphens and underscores"),
    summary: z.string().min(1),
    sides: z
      .strictObject({ input: z.looseObject({}).optional(), output: z.looseObject({}).optional() })
      .refine(({ input, output }) => input || output, "expected input, output or both"),
    options: z.custom<object>(isSchema, "expected a schema, such as one of zod").optional(),
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

function isSchema(value: unknown): boolean {
  return value instanceof Object && "~standard" in value;
}

/**
 * Validates the fields of a plugin's definition that guard uses before it builds the scanner. The types do not hold for programs in
 * JavaScript.
 *
 * @throws GuardValidationError with the path of every invalid field.
 */
export function checkDefinition(definition: unknown): void {
  parseOptions(definitionSchema(), definition);
}

const bodySchema = lazy(() =>
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

/**
 * Validates the result of `create` of a definition. Without this check the first scan would fail.
 *
 * @throws GuardValidationError with an empty path.
 */
export function checkBody({ type, detects = false }: AnyScannerDefinition, body: ScannerBody): void {
  const message = findBodyFault(body, detects);
  if (message === undefined) return;
  throw new GuardValidationError([{ path: "", message: `create() of ${type} did not return a scanner: ${message}` }]);
}

function findBodyFault(body: ScannerBody, detects: boolean): string | undefined {
  try {
    parseOptions(bodySchema(), body);
  } catch (error) {
    return (error as Error).message;
  }
  if (!detects || body.detect) return undefined;
  return "detect: expected a function, because the definition has detects: true";
}
