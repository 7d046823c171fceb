import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { GuardError, GuardValidationError, issueOf } from "../../errors.ts";
import { addon, native } from "../../native.ts";

/** Milliseconds that the patterns of a schema may take in all JSON of a text of up to a million characters, and in each million more. */
const PATTERN_TIME = 1000;

/** What JSON has wrong by a schema. */
export interface SchemaProblem {
  /** JSON pointer (RFC 6901) of the value at fault; empty for the whole. */
  pointer: string;
  message: string;
}

/**
 * A compiled JSON Schema, version 2020-12. `format` is an annotation, as that version has it.
 *
 * Patterns mean what JSON Schema says, that of ECMA-262 with the flag `u`. They run on the event loop, on as many strings as an
 * output has. Those that need backtracking are therefore refused together with the schema. The others run in linear time, but
 * that may have a large factor, as with `([ab]{1,60}c?){60}`: those of a text share a limit of time. The thread that repairs
 * JSON would be no better place: it would have to start, and compile the schema, for each text, and a text that takes too long
 * would fail there as well.
 *
 * @throws GuardValidationError with the path `schema` for a schema that is not valid, or has a pattern that can not be used.
 */
export class JsonSchema {
  readonly #validate: ValidateFunction;
  /** When the patterns have to be done, as `performance.now()` has it; Ajv checks the schema itself without haste. */
  #until = Number.POSITIVE_INFINITY;

  constructor(schema: unknown) {
    const regExp = Object.assign((pattern: string) => this.#pattern(pattern), { code: "linearTimeRegExp" });
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, code: { regExp } });
    // Ajv compares each item with each other one, which takes minutes for an array of a megabyte.
    ajv.removeKeyword("uniqueItems");
    ajv.addKeyword({
      keyword: "uniqueItems",
      type: "array",
      schemaType: "boolean",
      validate: (unique: boolean, items: unknown[]) => !unique || new Set(items.map(canonical)).size === items.length,
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
   * What is wrong with JSON, which has to be valid as such.
   *
   * @param until when patterns have to be done, as `performance.now()` has it.
   * @throws GuardError `GUARD_PATTERN` when they are not: the JSON must then not pass.
   */
  check(text: string, until: number): SchemaProblem | undefined {
    this.#until = until;
    if (this.#validate(JSON.parse(text))) return undefined;
    const [error] = this.#validate.errors as ErrorObject[];
    return { pointer: error?.instancePath ?? "", message: error?.message ?? "does not match the schema" };
  }

  /** A pattern of the schema, in the form that Ajv asks for. */
  #pattern(pattern: string) {
    const matches = compile(pattern);
    return {
      test: (text: string) => {
        const left = this.#until - performance.now();
        if (left <= 0) throw tooSlow(pattern);
        try {
          return native(() => matches(text, Math.ceil(Math.min(left, PATTERN_TIME))));
        } catch (error) {
          throw error instanceof GuardError && error.code === "GUARD_PATTERN" ? tooSlow(pattern, error) : error;
        }
      },
      // Ajv takes patterns of the same name for the same.
      toString: () => `/${pattern}/`,
    };
  }
}

/** When the patterns of a schema have to be done with a text of this length, as `performance.now()` has it. */
export function patternDeadline(length: number): number {
  return performance.now() + PATTERN_TIME * Math.max(1, length / 1_000_000);
}

/** @throws GuardValidationError for a pattern that can not be used. */
function compile(pattern: string): (text: string, limit: number) => boolean {
  const options = { matchType: "search", syntax: "ecmascript", deobfuscate: false, replace: false } as const;
  try {
    return native(() => new addon.PatternSet([pattern], options).tester());
  } catch (error) {
    const issue = issueOf(error);
    if (!issue) throw error;
    const message = `the pattern ${JSON.stringify(pattern)} can not be used: ${issue.message}`;
    throw new GuardValidationError([{ path: "schema", message }], { cause: error });
  }
}

function tooSlow(pattern: string, cause?: unknown): GuardError {
  const message = `schema: its patterns take too long in this text, at last ${JSON.stringify(pattern)}`;
  return new GuardError("GUARD_PATTERN", message, { cause });
}

/** The same text for equal values (section 4.2.2 of the core specification), whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
