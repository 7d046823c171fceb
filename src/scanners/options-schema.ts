import { z } from "zod";
import { commonOptions } from "./common-options.ts";

/**
 * A schema of the options of a scanner, from any library of the Standard Schema specification (https://standardschema.dev, version
 * 1): zod, valibot, arktype and others. A schema of zod 4 for an object is best: guard then knows the names of the options. It has to
 * answer at once, not with a promise.
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
 * Makes the schema that checks all options of a scanner, which refuses unknown keys.
 *
 * @param options what a definition says of its options: nothing, a schema, or a function that makes the fields from `defaults`.
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

/** Makes a schema of zod that leaves the check to a schema of another library. */
function checkedBy(schema: StandardSchema<object>): z.ZodObject {
  return z.looseObject(commonOptions).check((payload) => {
    const { name, ...snake } = payload.value;
    // The other library does not tell its names, so those of files are always turned into those of programs.
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
      complain("the schema of the options answers with a promise, where it has to answer at once");
    } else if (result.issues) {
      for (const { message, path = [] } of result.issues) {
        complain(
          message,
          path.map((part) => (typeof part === "object" ? part.key : part)),
        );
      }
    } else {
      const { value } = result;
      // Libraries drop keys that they do not know, and nobody would notice a misspelled option.
      for (const key of named.keys()) if (!Object.hasOwn(value, key)) complain("unknown key", [key]);
      payload.value = { ...value, ...(name === undefined ? {} : { name }) };
    }
  });
}

function camelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
