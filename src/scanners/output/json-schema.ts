import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { GuardValidationError } from "../../errors.ts";
import { addon } from "../../native.ts";

/** What JSON has wrong by a schema. */
export interface SchemaProblem {
  /** JSON pointer (RFC 6901) of the value at fault; empty for the whole. */
  pointer: string;
  message: string;
}

/** Patterns of schemas run in linear time, as those of Regex: an output must not be able to stall the check. */
const regExp = Object.assign(
  (pattern: string) => {
    const matchType = "search" as never;
    const scan = new addon.PatternSet([pattern], { matchType, deobfuscate: false, replace: false }).scanner();
    return {
      test: (text: string) => scan(text) !== null,
      // Ajv takes patterns of the same name for the same.
      toString: () => `/${pattern}/`,
    };
  },
  { code: "linearTimeRegExp" },
);

/**
 * A compiled JSON Schema, version 2020-12. `format` is an annotation, as that version has it.
 *
 * @throws GuardValidationError with the path `schema` for a schema that is not valid.
 */
export class JsonSchema {
  readonly #validate: ValidateFunction;

  constructor(schema: unknown) {
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
      const message = `not a JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
      throw new GuardValidationError([{ path: "schema", message }], { cause: error });
    }
    if ("$async" in this.#validate) {
      throw new GuardValidationError([{ path: "schema", message: "asynchronous schemas are not supported" }]);
    }
  }

  /** What is wrong with JSON, which has to be valid as such. */
  check(text: string): SchemaProblem | undefined {
    if (this.#validate(JSON.parse(text))) return undefined;
    const [error] = this.#validate.errors as ErrorObject[];
    return { pointer: error?.instancePath ?? "", message: error?.message ?? "does not match the schema" };
  }
}

/** The same text for equal values (section 4.2.2 of the core specification), whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
