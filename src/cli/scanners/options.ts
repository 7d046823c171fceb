import { z } from "zod";
import { metaOf, toSnakeCase, unwrap } from "../../support/options.ts";

/** An option for the documentation. */
export interface OptionReference {
  /** The name in programs, in camelCase. */
  name: string;
  /** The name in files. */
  snakeName: string;
  /** Its type in TypeScript. */
  type: string;
  /** The path in `src/` of the module that declares the type, if TypeScript does not. */
  typeFrom?: string;
  required: boolean;
  /** The default as JSON; undefined if there is none. */
  default?: string;
  description: string;
}

/** The options of a schema, the required ones first. */
export function optionsOf(schema: z.ZodObject): OptionReference[] {
  const options = Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, option]): OptionReference => {
    const fallback = defaultOf(option);
    const typeFrom = metaOf(option, "typescriptFrom");
    return {
      name,
      snakeName: toSnakeCase(name),
      // A getter, because only generated code reads it, and the schemas of plugins may have types that are unknown here.
      get type() {
        return typeOf(option);
      },
      ...(typeFrom === undefined ? {} : { typeFrom }),
      required: !option.safeParse(undefined).success,
      ...(fallback === undefined ? {} : { default: JSON.stringify(fallback) }),
      description: metaOf(option, "description") ?? "",
    };
  });
  return [...options.filter(({ required }) => required), ...options.filter(({ required }) => !required)];
}

/** The default of an option. */
function defaultOf(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return schema.def.defaultValue;
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType && defaultOf(innerType);
}

/**
 * The TypeScript type of an option.
 *
 * @throws Error for an unknown kind of schema, which needs `.meta({ typescript: "..." })`.
 */
export function typeOf(schema: z.ZodType): string {
  const given = metaOf(schema, "typescript");
  if (given !== undefined) return given;
  if (schema instanceof z.ZodNullable) return `${typeOf(schema.unwrap() as z.ZodType)} | null`;
  if (schema instanceof z.ZodOptional) return typeOf(schema.unwrap() as z.ZodType);
  const inner = unwrap(schema);
  if (inner !== schema) return typeOf(inner);
  if (schema instanceof z.ZodString) return "string";
  if (schema instanceof z.ZodNumber) return "number";
  if (schema instanceof z.ZodBoolean) return "boolean";
  if (schema instanceof z.ZodUndefined) return "undefined";
  if (schema instanceof z.ZodUnknown) return "unknown";
  if (schema instanceof z.ZodLiteral) return [...schema.values].map((value) => JSON.stringify(value)).join(" | ");
  if (schema instanceof z.ZodEnum) return schema.options.map((value) => JSON.stringify(value)).join(" | ");
  if (schema instanceof z.ZodUnion)
    return [...new Set((schema.options as z.ZodType[]).map((option) => typeOf(option)))].join(" | ");
  if (schema instanceof z.ZodArray) {
    const element = typeOf(schema.element as z.ZodType);
    return element.includes(" ") && !element.startsWith("{") ? `(${element})[]` : `${element}[]`;
  }
  if (schema instanceof z.ZodRecord) return `Record<string, ${typeOf(schema.valueType as z.ZodType)}>`;
  if (schema instanceof z.ZodObject) {
    const fields = optionsOf(schema).map(({ name, type, required }) => `${name}${required ? "" : "?"}: ${type}`);
    return `{ ${fields.join("; ")} }`;
  }
  throw new Error(`the schema of type ${schema.type} has no known TypeScript type: set meta.typescript`);
}
