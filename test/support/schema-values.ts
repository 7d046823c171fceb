import fc from "fast-check";

/** The keywords of JSON Schema that guard's request schemas use. */
export interface Schema {
  type?: string | string[];
  enum?: readonly unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
}

/** Strings that programs often handle wrongly, and fragments of requests. */
const ODD_TEXTS = ["", "\0", "\ud800", "\u202e", "__proto__", "null", "a@example.org", '{"a": [', "data: {}", "😀é"];

const texts = fc.oneof(fc.string({ unit: "grapheme", maxLength: 30 }), fc.constantFrom(...ODD_TEXTS));

/** Generates JSON values that match a schema without references. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valuesOf));
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => valuesOf({ ...schema, type })));
  switch (schema.type) {
    case "string":
      return texts;
    case "number":
      return fc.double({ noNaN: true });
    case "integer":
      return fc.integer();
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(valuesOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      });
    case "object":
      return objectsOf(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectsOf({ properties = {}, required = [], additionalProperties = true }: Schema): fc.Arbitrary<unknown> {
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema)])),
    { requiredKeys: required },
  );
  if (additionalProperties === false) return known;
  const schema = additionalProperties === true ? {} : additionalProperties;
  const others = fc.dictionary(fc.string({ maxLength: 8 }), valuesOf(schema), { maxKeys: 2 });
  return fc.tuple(others, known).map(([other, object]) => ({ ...other, ...object }));
}

/** Generates values in which a random part is replaced by another value. */
export function mutatedValues(values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 5 });
  return fc
    .tuple(values, picks, fc.jsonValue({ maxDepth: 1 }))
    .map(([value, path, other]) => replaceAt(value, path, other));
}

function replaceAt(value: unknown, [pick, ...rest]: readonly number[], other: unknown): unknown {
  if (typeof value !== "object" || value === null || pick === undefined) return other;
  const keys = Object.keys(value);
  const key = keys[pick % Math.max(keys.length, 1)];
  if (key === undefined) return other;
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...value };
  copy[key] = replaceAt(copy[key], rest, other);
  return copy;
}
