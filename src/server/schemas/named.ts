import { z } from "zod";

/** A named JSON Schema for Fastify's `addSchema`. */
export type NamedSchema = { $id: string } & Record<string, unknown>;

/** A reference to a named schema. */
export interface SchemaReference {
  $ref: string;
}

/** Returns the reference to a named schema: `{ $ref: "PromptRequest#" }`. */
export function named(name: string): SchemaReference {
  return { $ref: `${name}#` };
}

/**
 * Converts zod schemas to named JSON Schemas (draft 7), for validation, serialization, and `components.schemas` of the API description.
 * Nested named schemas become references.
 *
 * @param io `input` for requests, where unknown fields are ignored; `output` for responses.
 */
export function namedSchemas(schemas: Readonly<Record<string, z.ZodType>>, io: "input" | "output"): NamedSchema[] {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { target: "draft-7", io, uri: (id) => named(id).$ref });
  return Object.entries(made.schemas).map(([name, { $schema: _, $id: __, id: ___, ...schema }]) => ({
    $id: name,
    ...schema,
  }));
}
