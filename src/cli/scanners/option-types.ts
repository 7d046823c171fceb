import { z } from "zod";
import { metaOf, unwrap } from "../../support/options.ts";
import { PLUGIN_REFERENCE } from "../../support/plugin-kind.ts";
import { joinWithOr } from "../../support/schema-messages.ts";

/** The bounds of a number in words: `from 0 to 1`, `of at least 1`, `above 0`. */
function bounds(schema: z.ZodNumber): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = z.toJSONSchema(schema, {
    target: "draft-7",
    io: "input",
  });
  const low = Number.MIN_SAFE_INTEGER === minimum ? undefined : minimum;
  const high = Number.MAX_SAFE_INTEGER === maximum ? undefined : maximum;
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`;
  const words = [
    ...(low === undefined ? [] : [`of at least ${low}`]),
    ...(high === undefined ? [] : [`of at most ${high}`]),
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(exclusiveMaximum === undefined ? [] : [`below ${exclusiveMaximum}`]),
  ];
  return words.length > 0 ? ` ${words.join(" and ")}` : "";
}

function several(kind: string): string {
  return `list of ${kind.replace(/\b(?:text|number|object|plugin)\b/g, "$&s")}`;
}

/** The values of an option in plain words: `number from 0 to 1`, `list of texts`, `one of search or all`. */
export function plainType(schema: z.ZodType): string {
  const typescript = metaOf(schema, "typescript");
  if (metaOf(schema, "programOnly"))
    return typescript?.includes("[]") ? "list of functions, from programs only" : "from programs only";
  const json = metaOf(schema, "jsonSchema");
  // The description of an option says whether it takes a plugin beside other values.
  if (json === PLUGIN_REFERENCE) return typescript?.startsWith("string") ? "text" : "plugin";
  if (json?.enum) return `one of ${joinWithOr(json.enum.map(String))}`;
  if (json) return "text, object, or a list of them";
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return plainType(schema.unwrap() as z.ZodType);
  const inner = unwrap(schema);
  if (inner !== schema) return plainType(inner);
  if (schema instanceof z.ZodString) return "text";
  if (schema instanceof z.ZodNumber)
    return `${/int/.test(String(schema.format)) ? "whole number" : "number"}${bounds(schema)}`;
  if (schema instanceof z.ZodBoolean) return "true or false";
  if (schema instanceof z.ZodUndefined) return "nothing: leave it out";
  if (schema instanceof z.ZodLiteral) return joinWithOr([...schema.values].map(String));
  if (schema instanceof z.ZodEnum) return `one of ${joinWithOr(schema.options.map(String))}`;
  if (schema instanceof z.ZodUnion) return joinWithOr([...new Set((schema.options as z.ZodType[]).map(plainType))]);
  if (schema instanceof z.ZodArray) return several(plainType(schema.element as z.ZodType));
  if (schema instanceof z.ZodRecord) return "object";
  if (schema instanceof z.ZodObject) {
    const keys = Object.keys(schema.shape);
    return keys.length < 4 ? `object with ${joinWithOr(keys).replace(/ or (?=\S+$)/, " and ")}` : "object";
  }
  return "anything";
}

/** The schema of the objects that an option takes, alone or in a list; undefined for other options. */
export function objectIn(schema: z.ZodType): z.ZodObject | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) return inner;
  if (inner instanceof z.ZodArray) return objectIn(inner.element as z.ZodType);
  if (inner instanceof z.ZodUnion) {
    return (inner.options as z.ZodType[]).map(objectIn).find((found) => found !== undefined);
  }
  // The value is transformed first; the schema of the result counts.
  if (schema.def.type === "pipe") return objectIn((schema as z.ZodPipe).out as z.ZodType);
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType && objectIn(innerType);
}
