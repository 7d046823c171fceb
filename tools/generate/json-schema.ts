import { z } from "zod";
import { authEntry, configSchema, profile } from "../../src/config/schema.ts";
import { PLUGIN_NAME } from "../../src/plugins/packages.ts";
import type { Side } from "../../src/scan/scanner.ts";
import { SCANNERS } from "../../src/scanners/catalog.ts";
import type { DefinedScanner, ScannerClass } from "../../src/scanners/definition.ts";
import { metaOf, toSnakeCase, unwrap } from "../../src/support/options.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A string with a reference to the environment, which may replace any value. */
const REFERENCE: JsonSchema = { $ref: "#/definitions/reference" };

/** A plugin: an import path, or a name in lower case, unlike the types of guard's own scanners. */
const PLUGIN: JsonSchema = {
  type: "string",
  pattern: `#|${PLUGIN_NAME.source}`,
  description: "A plugin: ./file.js#export, package#export, or a name that an installed package offers.",
};

/** The keywords that restrict a value. They move into a branch of `anyOf` if a reference is allowed too. */
const VALUE_KEYWORDS = [
  ...["type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "pattern", "format"],
];

/**
 * The JSON Schema of `scanners.yml`, with which editors complete and validate the file. Keys may be in snake_case or camelCase, as in
 * guard, and `${NAME:default}` may replace any value.
 *
 * It is in draft 7, which language servers for YAML support best.
 */
export function fileSchema(): JsonSchema {
  const { shape } = configSchema;
  const sections = Object.entries(shape as Record<string, z.ZodType>).map(([name, section]): [string, JsonSchema] => {
    if (name === "auth") return [name, { ...authSchema(), description: metaOf(section, "description") ?? "" }];
    if (name === "profiles") {
      const description = metaOf(section, "description") ?? "";
      return [name, orNull({ type: "object", additionalProperties: profileSchema(), description })];
    }
    return [name, sectionSchema(name, section)];
  });
  return withAliases({
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "scanners.yml",
    description: "The configuration of guard: the server, and the scanners of prompts and outputs.",
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
  return orNull(schemaOf(section));
}

/** The scanners and settings of a profile. */
function profileSchema(): JsonSchema {
  const sections = Object.entries(profile.shape as Record<string, z.ZodType>);
  return objectOf(Object.fromEntries(sections.map(([name, section]) => [name, sectionSchema(name, section)])), []);
}

/** One way to authenticate, or a list of them. */
function authSchema(): JsonSchema {
  const entry = schemaOf(authEntry);
  return { anyOf: [entry, { type: "array", items: entry, minItems: 1 }] };
}

/** Allows an empty section. */
function orNull(schema: JsonSchema): JsonSchema {
  return schema.type === "object" ? ({ ...schema, type: ["object", "null"] } as unknown as JsonSchema) : schema;
}

function scannersOf(side: Side): { scanner: DefinedScanner; found: ScannerClass }[] {
  return SCANNERS.flatMap((scanner) => {
    const found = scanner.classes[side];
    return found ? [{ scanner, found: found as unknown as ScannerClass }] : [];
  });
}

/** The list of scanners of a side. The type of an entry decides its parameters. */
function list(side: Side): JsonSchema {
  const scanners = scannersOf(side);
  return {
    type: ["array", "null"],
    description: `Scanners of ${side === "input" ? "prompts" : "outputs"}, in the order in which they run.`,
    items: {
      ...objectOf(
        {
          type: {
            description: "The scanner.",
            anyOf: [
              ...scanners.map(({ scanner: { definition } }) => ({
                const: definition.type,
                description: definition.summary,
              })),
              PLUGIN,
            ],
          },
          name: { type: "string", minLength: 1, description: "The name in results. It may be set in params instead." },
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

/** The name of a definition, which both sides share if they have the same class. */
function definitionName(side: Side, { type, definition }: ScannerClass): string {
  const { input, output } = SCANNERS.find((scanner) => scanner.definition === definition)?.classes ?? {};
  return input === output ? type : `${side}.${type}`;
}

/** The parameters of all scanners of a side, by the name of their definition. */
function paramsOf(side: Side): [string, JsonSchema][] {
  return scannersOf(side).map(({ scanner, found }) => {
    const schema = schemaOf(found.options);
    const isRequired = requiredOf(found.options).length > 0;
    return [
      definitionName(side, found),
      { ...(isRequired ? schema : orNull(schema)), description: scanner.definition.summary },
    ];
  });
}

/** The names of the required options. */
function requiredOf(schema: z.ZodObject): string[] {
  return Object.entries(schema.shape as Record<string, z.ZodType>)
    .filter(([, option]) => !option.safeParse(undefined).success)
    .map(([name]) => name);
}

/** The JSON Schema of the values in a file. */
function schemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    target: "draft-7",
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) =>
      completeSchema(zodSchema as unknown as z.ZodType, jsonSchema as JsonSchema),
  });
  return fileForm(made);
}

/** Completes the schema of a value in place with metadata, and removes keys that are not of JSON Schema. */
function completeSchema(zod: z.ZodType, json: JsonSchema): void {
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
  // Zod adds the range of safe integers, which is not a rule of guard.
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.description === undefined) delete json.description;
}

/** Allows references to the environment in place of values, and both cases of keys, at every depth. */
function fileForm(schema: unknown): JsonSchema {
  if (typeof schema !== "object" || schema === null) return schema as never;
  const json = schema as JsonSchema;
  const result: Record<string, unknown> = { ...json };
  if (json.oneOf) result.oneOf = (json.oneOf as JsonSchema[]).map(fileForm);
  if (json.anyOf) result.anyOf = flattenBranches((json.anyOf as JsonSchema[]).map(fileForm));
  if (json.items) result.items = fileForm(json.items);
  if (typeof json.additionalProperties === "object") result.additionalProperties = fileForm(json.additionalProperties);
  if (json.properties) {
    const { properties, required = [] } = json;
    const converted = Object.entries(properties).map(([name, item]) => [name, fileForm(item)] as const);
    Object.assign(result, objectOf(Object.fromEntries(converted), required), { required: undefined });
    if (required.some((name) => toSnakeCase(name) === name)) result.required = requiredInOneCase(required);
  }
  return orReference(result as JsonSchema);
}

/** Merges the branches of nested `anyOf`, with one reference at the end. */
function flattenBranches(branches: readonly JsonSchema[]): JsonSchema[] {
  const flat = branches.flatMap((branch) => {
    const { anyOf, ...rest } = branch;
    return anyOf && Object.keys(rest).length === 0 ? (anyOf as JsonSchema[]) : [branch];
  });
  return [...flat.filter((branch) => branch !== REFERENCE), ...(flat.includes(REFERENCE) ? [REFERENCE] : [])];
}

/** Replaces the `aliasOf` of {@link objectOf} with references to the aliased schemas. */
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

/** The required keys that are the same in both cases. */
function requiredInOneCase(required: readonly string[]): string[] {
  return required.filter((name) => toSnakeCase(name) === name);
}

/** An object with keys in snake_case or camelCase, of which editors suggest the former. */
function objectOf(properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema {
  const keys = Object.entries(properties).flatMap(([name, schema]): [string, JsonSchema][] => {
    const snake = toSnakeCase(name);
    return snake === name
      ? [[name, schema]]
      : [
          [snake, schema],
          [name, { aliasOf: snake }],
        ];
  });
  const inBothCases = required.filter((name) => toSnakeCase(name) !== name);
  const inOneCase = requiredInOneCase(required);
  return {
    type: "object",
    properties: Object.fromEntries(keys),
    additionalProperties: false,
    ...(inOneCase.length > 0 ? { required: inOneCase } : {}),
    ...(inBothCases.length > 0
      ? { allOf: inBothCases.map((name) => ({ anyOf: [{ required: [toSnakeCase(name)] }, { required: [name] }] })) }
      : {}),
  };
}

/** Allows a reference in place of a value. Free texts allow it already; lists and objects stay as they are. */
function orReference(json: JsonSchema): JsonSchema {
  const { type } = json;
  const isFreeText = type === "string" && !json.enum && !json.pattern;
  const isValue = ["number", "integer", "boolean", "string"].includes(type as string) || json.enum !== undefined;
  if (!isValue || isFreeText || json.const !== undefined) return json;
  const entries = Object.entries(json);
  const value = Object.fromEntries(entries.filter(([key]) => VALUE_KEYWORDS.includes(key)));
  const rest = Object.fromEntries(entries.filter(([key]) => !VALUE_KEYWORDS.includes(key)));
  return { ...rest, anyOf: [value, REFERENCE] };
}
