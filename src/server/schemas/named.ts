import { z } from "zod";

/** A named JSON Schema, as `addSchema` of Fastify takes it. */
export type NamedSchema = { $id: string } & Record<string, unknown>;

/** A reference to a named schema, for the schemas of routes. */
export interface SchemaReference {
  $ref: string;
}

/** Refers to the schema of a name: `{ $ref: "PromptRequest#" }`. */
export function named(name: string): SchemaReference {
  return { $ref: `${name}#` };
}

/**
 * JSON Schemas (draft 7) of zod schemas by their names. Fastify validates and serializes with them, and the API's description shows
 * them under `components.schemas`. A schema that stands in another one is a reference there.
 *
 * @param io `input` for what clients send, where fields that are not known are ignored; `output` for what they get.
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
