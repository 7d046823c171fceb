import { z } from "zod";
import { commonOptions } from "./common-options.ts";

/**
 * A schema of the options of a scanner, from any library that implements Standard Schema (https://standardschema.dev, version 1): zod,
 * valibot, arktype and others. With an object schema of zod 4, guard knows the names of the options. The schema must be synchronous.
 */
export type OptionsSchema<Options extends object = object> = z.core.$ZodType<Options> | StandardSchema<Options>;

/** The part of the Standard Schema specification that guard uses. */
export interface StandardSchema<Options> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Options> | Promise<StandardResult<Options>>;
    readonly types?: { readonly input: unknown; readonly output: Options } | undefined;
  };
}

type StandardResult<Options> =
  | { readonly value: Options; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Creates the schema of all options of a scanner, which refuses unknown keys.
 *
 * @param options the options of a definition: a schema, a function that creates the fields from `defaults`, or nothing.
 */
export function optionsSchema(
  options: OptionsSchema | ((defaults: object) => z.ZodRawShape) | undefined,
  defaults: object,
): z.ZodObject {
  if (options === undefined) return z.strictObject(commonOptions);
  // The schemas of some libraries are functions too.
  if (!("~standard" in options)) return z.strictObject({ ...commonOptions, ...options(defaults) });
  // zod's `instanceof` knows schemas of another copy of zod too.
  if (options instanceof z.ZodObject) return options.strict().safeExtend(commonOptions) as unknown as z.ZodObject;
  return checkedBy(options as StandardSchema<object>);
}

/** Creates a schema of zod that validates with a schema of another library. */
function checkedBy(schema: StandardSchema<object>): z.ZodObject {
  return z.looseObject(commonOptions).check((payload) => {
    const { name, mode, ...snake } = payload.value;
    // The names of the other schema are unknown, so all keys are converted to camelCase.
    const named = new Map<string, unknown>();
    const complain = (message: string, path: PropertyKey[] = []) =>
      payload.issues.push({ code: "custom", message, path, input: payload.value });
    for (const [key, value] of Object.entries(snake)) {
      const camel = camelCase(key);
      if (named.has(camel)) complain("is given twice, in two spellings", [camel]);
      named.set(camel, value);
    }
    const result = schema["~standard"].validate(Object.fromEntries(named));
    if (result instanceof Promise) {
      result.catch(() => {});
      complain("the schema of the options must be synchronous, but returned a promise");
    } else if (result.issues) {
      for (const { message, path = [] } of result.issues) {
        complain(
          message,
          path.map((part) => (typeof part === "object" ? part.key : part)),
        );
      }
    } else {
      const { value } = result;
      // Libraries drop unknown keys, so nobody would notice a misspelled option.
      for (const key of named.keys()) if (!Object.hasOwn(value, key)) complain("unknown key", [key]);
      payload.value = {
        ...value,
        ...(name === undefined ? {} : { name }),
        ...(mode === undefined ? {} : { mode }),
      };
    }
  });
}

function camelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
