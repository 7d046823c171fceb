import { z } from "zod";
import { pluginOrigin } from "../plugins/load.ts";
import type { Environment } from "../support/environment.ts";
import type { ValidationIssue } from "../support/errors.ts";
import { toSnakeCase, unwrap } from "../support/options.ts";

/** A parsed file with expanded environment variables. */
export interface ExpandedFile {
  value: unknown;
  /** The variables of the strings at these paths, which are in snake_case. */
  paths: Map<string, string[]>;
  issues: ValidationIssue[];
}

/** Three alternatives: `$${` for a literal `${`, a well-formed reference, and an invalid `${`. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\}|\$\{/g;

/** The start of a default in shell syntax, such as `-x` in `${NAME:-x}`, but not of a signed number. */
const SHELL = /^(?:[?=]|[-+](?!\d))/;

/**
 * Expands `${NAME}` and `${NAME:default}` in the strings of a parsed YAML file; `$${` is a literal `${`.
 *
 * Expansion follows parsing, so a value is always a single string and cannot change the structure of the file. Keys are not expanded. An
 * empty variable counts as set, as in llm-guard.
 */
export function expandEnvironment(root: unknown, env: Environment): ExpandedFile {
  const paths = new Map<string, string[]>();
  const issues: ValidationIssue[] = [];

  const expandText = (text: string, path: string): string =>
    text.replace(REFERENCE, (reference, name?: string, fallback?: string) => {
      if (reference === "$${") return "${";
      if (name === undefined) {
        issues.push({
          path,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the documented syntax
          message: "${ without the name of a variable: write ${NAME}, ${NAME:default}, or $${ for a literal ${",
        });
        return "";
      }
      const at = toSnakeCase(path);
      paths.set(at, [...(paths.get(at) ?? []), name]);
      const value = env[name] ?? fallback;
      if (value === undefined) {
        issues.push({ path, message: `the environment variable ${name} is not set and has no default` });
      } else if (fallback?.includes("${")) {
        issues.push({ path, message: `the default of ${name} must not contain a reference` });
      } else if (fallback !== undefined && SHELL.test(fallback)) {
        // In a shell the sign is not part of the default: `${TOKEN:-secret}` would give the unexpected token `-secret`.
        issues.push({ path, message: `write the default of ${name} directly after the colon, without -, ?, + or =` });
      }
      return value ?? "";
    });

  const expand = (value: unknown, path: string): unknown => {
    if (typeof value === "string") return value.includes("${") ? expandText(value, path) : value;
    if (Array.isArray(value)) return value.map((item, index) => expand(item, join(path, String(index))));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item, join(path, key))]));
  };

  return { value: expand(root, ""), paths, issues };
}

/**
 * Converts the strings at `paths` to the types of a schema. `true` becomes a boolean only if the schema expects one, so a token `true`,
 * `null` or `12345` stays a text. Other strings stay unchanged, and the validation reports them. Below a preprocess, keys may have another
 * spelling (`DEFAULT_MODEL`), and a list may be a single element.
 */
export function coerceExpanded(
  schema: z.ZodType,
  value: unknown,
  paths: Pick<ReadonlyMap<string, unknown>, "has" | "size">,
  path = "",
): unknown {
  if (paths.size === 0) return value;
  const inner = innerSchema(schema);
  const list = alternatives(inner).find((option) => option instanceof z.ZodArray);
  if (typeof value === "string") return paths.has(path) ? coerceText(schema, value) : value;
  if (Array.isArray(value)) {
    return list
      ? value.map((item, index) => coerceExpanded(list.element as z.ZodType, item, paths, join(path, String(index))))
      : value;
  }
  if (typeof value !== "object" || value === null || pluginOrigin(value)) return value;
  const object = alternatives(inner).find((option) => option instanceof z.ZodObject);
  if (!object) return list ? coerceExpanded(list.element as z.ZodType, value, paths, path) : value;
  const fields = new Map(
    Object.entries(object.shape as Record<string, z.ZodType>).map(([name, field]) => [caselessKey(name), field]),
  );
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const field = fields.get(caselessKey(key));
      return [key, field ? coerceExpanded(field, item, paths, join(path, toSnakeCase(key))) : item];
    }),
  );
}

const BOOLEANS = new Map([
  ...["true", "yes", "on", "1"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0"].map((word) => [word, false] as const),
]);
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

function coerceText(schema: z.ZodType, text: string): unknown {
  const kinds = alternatives(unwrap(schema));
  // A literal beside a number, such as `auto`, does not make the option a text.
  const takesText = kinds.some(
    (kind) =>
      ![z.ZodNumber, z.ZodBoolean, z.ZodArray, z.ZodObject, z.ZodLiteral].some((other) => kind instanceof other),
  );
  if (takesText) return text;
  if (text === "" && (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)) {
    return schema instanceof z.ZodOptional ? undefined : null;
  }
  if (kinds.some((kind) => kind instanceof z.ZodNumber) && NUMBER.test(text)) return Number(text);
  if (kinds.some((kind) => kind instanceof z.ZodBoolean)) return BOOLEANS.get(text.toLowerCase()) ?? text;
  return text;
}

/** Like `unwrap`, but returns the schema of the result of a preprocess. */
export function innerSchema(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodTransform) return innerSchema(schema.out as z.ZodType);
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType ? innerSchema(innerType) : unwrap(schema);
}

/** Returns a key without case and underscores, which is equal for `DEFAULT_MODEL`, `default_model` and `defaultModel`. */
export function caselessKey(key: string): string {
  return key.replaceAll("_", "").toLowerCase();
}

function alternatives(schema: z.ZodType): z.ZodType[] {
  return schema instanceof z.ZodUnion ? (schema.options as z.ZodType[]).map(unwrap) : [schema];
}

function join(path: string, key: string): string {
  return path ? `${path}.${key}` : key;
}
