import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { addon, native } from "../../native.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import { GuardError, GuardValidationError, issueOf } from "../../support/errors.ts";
import { lazyPackage } from "../../support/lazy-package.ts";

/** Loaded with the first schema, because it consists of a hundred files. */
const ajv2020 = lazyPackage<typeof import("ajv/dist/2020.js")>("ajv/dist/2020.js");

/** The milliseconds for the patterns of a schema in a text of up to a million characters. Longer texts get proportionally more time. */
const PATTERN_TIME_MS = 1000;

/** A violation of a schema. */
export interface SchemaProblem {
  /** The JSON pointer (RFC 6901) of the value at fault. It is empty for the whole value. */
  pointer: string;
  message: string;
}

/**
 * A compiled JSON Schema, version 2020-12. `format` is only an annotation, as that version says.
 *
 * Patterns follow ECMA-262 with the flag `u`, as JSON Schema says. They run on the event loop, on every string of an output, so schemas
 * with patterns that need backtracking are refused. Other patterns run in linear time, but the factor can be large, as with
 * `([ab]{1,60}c?){60}`, so all patterns share one time limit per text. The thread that repairs JSON would be no better: it would have to
 * start and compile the schema for each text, and slow texts would fail as well.
 *
 * @throws GuardValidationError with the path `schema` for an invalid schema, and for a pattern that cannot be used.
 */
export class JsonSchema {
  readonly #validate: ValidateFunction;
  /**
   * The deadline of the patterns, on the clock of `performance.now()`. It is infinite while Ajv checks the schema itself.
   */
  #deadline = Number.POSITIVE_INFINITY;

  constructor(schema: unknown) {
    const regExp = Object.assign((pattern: string) => this.#pattern(pattern), { code: "linearTimeRegExp" });
    const { Ajv2020 } = ajv2020();
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, code: { regExp } });
    // Ajv's own keyword compares each item with all others, which takes minutes for an array of a megabyte.
    ajv.removeKeyword("uniqueItems");
    ajv.addKeyword({
      keyword: "uniqueItems",
      type: "array",
      schemaType: "boolean",
      validate: (unique: boolean, items: unknown[]) =>
        !unique || new Set(items.map(canonicalJson)).size === items.length,
      error: { message: "must not have items that are equal" },
    });
    try {
      this.#validate = ajv.compile(schema as object);
    } catch (error) {
      if (error instanceof GuardValidationError) throw error;
      const message = `not a JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
      throw new GuardValidationError([{ path: "schema", message }], { cause: error });
    }
    if ("$async" in this.#validate) {
      throw new GuardValidationError([{ path: "schema", message: "asynchronous schemas are not supported" }]);
    }
  }

  /**
   * Returns the violation of the schema, or undefined if the JSON matches.
   *
   * @param text valid JSON.
   * @param deadline the deadline of the patterns, on the clock of `performance.now()`.
   * @throws GuardError `GUARD_PATTERN` if they do not finish in time. The JSON must not pass then.
   */
  check(text: string, deadline: number): SchemaProblem | undefined {
    this.#deadline = deadline;
    if (this.#validate(JSON.parse(text))) return undefined;
    const [error] = this.#validate.errors as ErrorObject[];
    return { pointer: error?.instancePath ?? "", message: error?.message ?? "does not match the schema" };
  }

  /** Compiles a pattern of the schema for Ajv. */
  #pattern(pattern: string) {
    const matches = compile(pattern);
    return {
      test: (text: string) => {
        const left = this.#deadline - performance.now();
        if (left <= 0) throw tooSlow(pattern);
        try {
          return native(() => matches(text, Math.ceil(Math.min(left, PATTERN_TIME_MS))));
        } catch (error) {
          throw error instanceof GuardError && error.code === "GUARD_PATTERN" ? tooSlow(pattern, error) : error;
        }
      },
      // Ajv identifies patterns by `toString`.
      toString: () => `/${pattern}/`,
    };
  }
}

/**
 * Returns the deadline of the patterns of a schema for a text of this length, on the clock of `performance.now()`.
 */
export function patternDeadline(length: number): number {
  return performance.now() + PATTERN_TIME_MS * Math.max(1, length / 1_000_000);
}

/** @throws GuardValidationError for a pattern that cannot be used. */
function compile(pattern: string): (text: string, limit: number) => boolean {
  const options = { matchType: "search", syntax: "ecmascript", deobfuscate: false } as const;
  try {
    return native(() => new addon.PatternSet([pattern], options).tester());
  } catch (error) {
    const issue = issueOf(error);
    if (!issue) throw error;
    const message = `the pattern ${JSON.stringify(pattern)} cannot be used: ${issue.message}`;
    throw new GuardValidationError([{ path: "schema", message }], { cause: error });
  }
}

function tooSlow(pattern: string, cause?: unknown): GuardError {
  const message = `schema: its patterns take too long in this text, at last ${JSON.stringify(pattern)}`;
  return new GuardError("GUARD_PATTERN", message, { cause });
}
