import { z } from "zod";
import { authEntry, configSchema, profile } from "../../src/config/schema.ts";
import { PLUGIN_NAME } from "../../src/plugins/packages.ts";
import type { Side } from "../../src/scan/scanner.ts";
import { SCANNERS } from "../../src/scanners/catalog.ts";
import type { DefinedScanner, ScannerClass } from "../../src/scanners/definition.ts";
import { metaOf, toSnakeCase, unwrap } from "../../src/support/options.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A text with a reference to the environment in it, which may stand wherever a value may. */
const REFERENCE: JsonSchema = { $ref: "#/definitions/reference" };

/** A plugin: an import path, or a name, which begins with a small letter as no type of guard's own scanners does. */
const PLUGIN: JsonSchema = {
  type: "string",
  pattern: `#|${PLUGIN_NAME.source}`,
  description: "A plugin: ./file.js#export, package#export, or a name that an installed package offers.",
};

/** What makes a value be of one form, and goes into that form where another one is possible too. */
const OF_VALUE = [
  ...["type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "pattern", "format"],
];

/**
 * The JSON Schema of `scanners.yml`, by which editors complete and check the file. Names of keys are known in snake_case and, as
 * guard takes them too, in camelCase; `${NAME:default}` may stand in the place of any value.
 *
 * It is of draft 7, which the language servers for YAML know best.
 */
export function fileSchema(): JsonSchema {
  const { shape } = configSchema;
  const sections = Object.entries(shape as Record<string, z.ZodType>).map(([name, section]): [string, JsonSchema] => {
    if (name === "auth") return [name, { ...authSchema(), description: metaOf(section, "description") ?? "" }];
    if (name === "profiles") {
      const description = metaOf(section, "description") ?? "";
      return [name, orNothing({ type: "object", additionalProperties: profileSchema(), description })];
    }
    return [name, sectionSchema(name, section)];
  });
  return withAliases({
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "scanners.yml",
    description: "The configuration of guard: what it serves, and which scanners check prompts and outputs.",
    ...objectOf(Object.fromEntries(sections), []),
    definitions: {
      reference: {
        type: "string",
        pattern: "\\$\\{",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax that is meant
        description: "A value from the environment: ${NAME}, or ${NAME:default}.",
        doNotSuggest: true,
      },
      ...Object.fromEntries((["input", "output"] as const).flatMap(paramsOf)),
    },
  });
}

function sectionSchema(name: string, section: z.ZodType): JsonSchema {
  if (name === "inputScanners") return list("input");
  if (name === "outputScanners") return list("output");
  return orNothing(schemaOf(section));
}

/** Scanners and settings of a profile. */
function profileSchema(): JsonSchema {
  const sections = Object.entries(profile.shape as Record<string, z.ZodType>);
  return objectOf(Object.fromEntries(sections.map(([name, section]) => [name, sectionSchema(name, section)])), []);
}

/** One way to authenticate, or a list of them. */
function authSchema(): JsonSchema {
  const entry = schemaOf(authEntry);
  return { anyOf: [entry, { type: "array", items: entry, minItems: 1 }] };
}

/** A section with nothing in it is one that is not there. */
function orNothing(schema: JsonSchema): JsonSchema {
  return schema.type === "object" ? ({ ...schema, type: ["object", "null"] } as unknown as JsonSchema) : schema;
}

function scannersOf(side: Side): { scanner: DefinedScanner; found: ScannerClass }[] {
  return SCANNERS.flatMap((scanner) => {
    const found = scanner.classes[side];
    return found ? [{ scanner, found: found as unknown as ScannerClass }] : [];
  });
}

/** The list of scanners of a side: each entry has the parameters of its type. */
function list(side: Side): JsonSchema {
  const scanners = scannersOf(side);
  return {
    type: ["array", "null"],
    description: `Scanners of ${side === "input" ? "prompts" : "outputs"}, in the order in which they run.`,
    items: {
      ...objectOf(
        {
          type: {
            description: "Which scanner.",
            anyOf: [
              ...scanners.map(({ scanner: { definition } }) => ({
                const: definition.type,
                description: definition.summary,
              })),
              PLUGIN,
            ],
          },
          name: { type: "string", minLength: 1, description: "Name in results; may stand in params too." },
          params: { type: ["object", "null"], description: "The options of the scanner." },
        },
        ["type"],
      ),
      allOf: scanners.map(({ found }) => {
        const { type } = found;
        const isRequired = requiredOf(found.options).length > 0;
        const then = {
          properties: { params: { $ref: `#/definitions/${definitionName(side, found)}` } },
          ...(isRequired ? { required: ["params"] } : {}),
        };
        return { if: { properties: { type: { const: type } }, required: ["type"] }, then };
      }),
    },
  } as unknown as JsonSchema;
}

/** One definition for both sides where they have one class. */
function definitionName(side: Side, { type, definition }: ScannerClass): string {
  const { input, output } = SCANNERS.find((scanner) => scanner.definition === definition)?.classes ?? {};
  return input === output ? type : `${side}.${type}`;
}

/** The parameters of every scanner of a side, by the name of their definition. */
function paramsOf(side: Side): [string, JsonSchema][] {
  return scannersOf(side).map(({ scanner, found }) => {
    const schema = schemaOf(found.options);
    const isRequired = requiredOf(found.options).length > 0;
    return [
      definitionName(side, found),
      { ...(isRequired ? schema : orNothing(schema)), description: scanner.definition.summary },
    ];
  });
}

/** The options that a file has to give. */
function requiredOf(schema: z.ZodObject): string[] {
  return Object.entries(schema.shape as Record<string, z.ZodType>)
    .filter(([, option]) => !option.safeParse(undefined).success)
    .map(([name]) => name);
}

/** A zod schema as a file may give its values. */
function schemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    target: "draft-7",
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => asWritten(zodSchema as unknown as z.ZodType, jsonSchema as JsonSchema),
  });
  return inFile(made);
}

/** Gives the schema of one value, in place, what its zod schema cannot tell, and takes out what is no JSON Schema. */
function asWritten(zod: z.ZodType, json: JsonSchema): void {
  const given = zod.meta()?.jsonSchema;
  if (given) {
    const { description, default: fallback } = json;
    for (const key of Object.keys(json)) delete json[key];
    Object.assign(json, structuredClone(given), { description }, fallback === undefined ? {} : { default: fallback });
  }
  if (zod.meta()?.programOnly || unwrap(zod) instanceof z.ZodUndefined) {
    const { description } = json;
    for (const key of Object.keys(json)) delete json[key];
    Object.assign(json, { not: {}, description, doNotSuggest: true });
  } else if (metaOf(zod, "ofLlmGuard")) json.doNotSuggest = true;
  for (const key of [
    "setting",
    "typescript",
    "typescriptFrom",
    "programOnly",
    "plugin",
    "jsonSchema",
    "formerly",
    "ofLlmGuard",
  ]) {
    delete json[key];
  }
  // The largest number that a double holds exactly is no rule of ours.
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.description === undefined) delete json.description;
}

/** A schema with both spellings of its keys, and with references to the environment in the place of values, at every depth. */
function inFile(schema: unknown): JsonSchema {
  if (typeof schema !== "object" || schema === null) return schema as never;
  const json = schema as JsonSchema;
  const result: Record<string, unknown> = { ...json };
  if (json.oneOf) result.oneOf = (json.oneOf as JsonSchema[]).map(inFile);
  if (json.anyOf) result.anyOf = flattened((json.anyOf as JsonSchema[]).map(inFile));
  if (json.items) result.items = inFile(json.items);
  if (typeof json.additionalProperties === "object") result.additionalProperties = inFile(json.additionalProperties);
  if (json.properties) {
    const { properties, required = [] } = json;
    const converted = Object.entries(properties).map(([name, item]) => [name, inFile(item)] as const);
    Object.assign(result, objectOf(Object.fromEntries(converted), required), { required: undefined });
    if (required.some((name) => toSnakeCase(name) === name)) result.required = requiredAsWritten(required);
  }
  return orReference(result as JsonSchema);
}

/** Forms of a value, those of forms within them among them, each once. */
function flattened(forms: readonly JsonSchema[]): JsonSchema[] {
  const flat = forms.flatMap((form) => {
    const { anyOf, ...rest } = form;
    return anyOf && Object.keys(rest).length === 0 ? (anyOf as JsonSchema[]) : [form];
  });
  return [...flat.filter((form) => form !== REFERENCE), ...(flat.includes(REFERENCE) ? [REFERENCE] : [])];
}

/** Replaces the marks that {@link objectOf} leaves by references to what they stand for. */
function withAliases(schema: JsonSchema): JsonSchema {
  const visit = (value: unknown, pointer: string): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => visit(item, `${pointer}/${index}`));
    if (typeof value !== "object" || value === null) return value;
    const { aliasOf, ...rest } = value as { aliasOf?: string };
    if (aliasOf !== undefined) {
      const target = `${pointer.slice(0, pointer.lastIndexOf("/"))}/${aliasOf}`;
      return { allOf: [{ $ref: target }], doNotSuggest: true };
    }
    return Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, visit(item, `${pointer}/${key}`)]));
  };
  return visit(schema, "#") as JsonSchema;
}

/** The required keys that have one spelling only. */
function requiredAsWritten(required: readonly string[]): string[] {
  return required.filter((name) => toSnakeCase(name) === name);
}

/** An object whose keys may be written in snake_case or in camelCase, the former suggested. */
function objectOf(properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema {
  const spelled = Object.entries(properties).flatMap(([name, schema]): [string, JsonSchema][] => {
    const snake = toSnakeCase(name);
    return snake === name
      ? [[name, schema]]
      : [
          [snake, schema],
          [name, { aliasOf: snake }],
        ];
  });
  const twice = required.filter((name) => toSnakeCase(name) !== name);
  const once = requiredAsWritten(required);
  return {
    type: "object",
    properties: Object.fromEntries(spelled),
    additionalProperties: false,
    ...(once.length > 0 ? { required: once } : {}),
    ...(twice.length > 0
      ? { allOf: twice.map((name) => ({ anyOf: [{ required: [toSnakeCase(name)] }, { required: [name] }] })) }
      : {}),
  };
}

/** A value that is no free text, or a reference in its place; texts, lists and objects stay as they are. */
function orReference(json: JsonSchema): JsonSchema {
  const { type } = json;
  const isFreeText = type === "string" && !json.enum && !json.pattern;
  const isValue = ["number", "integer", "boolean", "string"].includes(type as string) || json.enum !== undefined;
  if (!isValue || isFreeText || json.const !== undefined) return json;
  const entries = Object.entries(json);
  const form = Object.fromEntries(entries.filter(([key]) => OF_VALUE.includes(key)));
  const rest = Object.fromEntries(entries.filter(([key]) => !OF_VALUE.includes(key)));
  return { ...rest, anyOf: [form, REFERENCE] };
}
