import { z } from "zod";
import { pluginOrigin } from "../plugins/load.ts";
import type { Environment } from "../support/environment.ts";
import type { ValidationIssue } from "../support/errors.ts";
import { toSnakeCase, unwrap } from "../support/options.ts";

/** A parsed file with the environment filled in. */
export interface Expanded {
  value: unknown;
  /**
   * The variables that the strings at these paths came from, in whole or in part. The paths are in snake_case, however the file
   * spells its keys.
   */
  paths: Map<string, string[]>;
  issues: ValidationIssue[];
}

/** Three alternatives: `$${`, which stands for a literal `${`; a well-formed reference; and a `${` that begins no reference. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([^}]*))?\}|\$\{/g;

/** How a default begins that was written for a shell, such as `-x` in `${NAME:-x}`. A number with a sign is no such default. */
const SHELL = /^(?:[?=]|[-+](?!\d))/;

/**
 * Replaces `${NAME}` and `${NAME:default}` in the strings of a parsed YAML file; `$${` stands for a literal `${`.
 *
 * This happens after parsing, so that the value of a variable is one string whatever is in it and can never add to the
 * structure of the file. Keys are not touched. A variable that is set to nothing counts as set, as in llm-guard.
 */
export function expandEnvironment(root: unknown, env: Environment): Expanded {
  const paths = new Map<string, string[]>();
  const issues: ValidationIssue[] = [];

  const expandText = (text: string, path: string): string =>
    text.replace(REFERENCE, (reference, name?: string, fallback?: string) => {
      if (reference === "$${") return "${";
      if (name === undefined) {
        issues.push({
          path,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax that is meant
          message: "${ without a variable's name: write ${NAME}, ${NAME:default}, or $${ for a literal ${",
        });
        return "";
      }
      const at = toSnakeCase(path);
      paths.set(at, [...(paths.get(at) ?? []), name]);
      const value = env[name] ?? fallback;
      if (value === undefined) {
        issues.push({ path, message: `the environment variable ${name} is not set and has no default` });
      } else if (fallback?.includes("${")) {
        issues.push({ path, message: `the default of ${name} may have no reference in it` });
      } else if (fallback !== undefined && SHELL.test(fallback)) {
        // A shell would not count the sign to the default: `${TOKEN:-secret}` would become a token `-secret` that nobody knows.
        issues.push({ path, message: `write the default of ${name} behind a colon alone, without -, ?, + or =` });
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
 * Gives the strings at `paths` the type that a schema expects there: `true` becomes a boolean only where one is due, so that
 * a token of `true`, `null` or `12345` stays the text that it is. What does not fit stays as it is too, for the check that
 * follows to complain of. Keys of `value` are those of the schema; behind a preprocess they may have its words in another
 * spelling (`DEFAULT_MODEL`), and what is to be a list may be one of its elements.
 */
export function coerceExpanded(
  schema: z.ZodType,
  value: unknown,
  paths: Pick<ReadonlyMap<string, unknown>, "has" | "size">,
  path = "",
): unknown {
  if (paths.size === 0) return value;
  const inner = described(schema);
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
    Object.entries(object.shape as Record<string, z.ZodType>).map(([name, field]) => [inAnyCase(name), field]),
  );
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const field = fields.get(inAnyCase(key));
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
  // A literal, such as `auto` beside a number, is one word, and no text that a number could be meant to be.
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

/** What `unwrap` returns, but for a preprocess, which accepts anything, the schema of its result. */
export function described(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodTransform) return described(schema.out as z.ZodType);
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType ? described(innerType) : unwrap(schema);
}

/** A key without case and underscores: the same for `DEFAULT_MODEL`, `default_model` and `defaultModel`. */
export function inAnyCase(key: string): string {
  return key.replaceAll("_", "").toLowerCase();
}

function alternatives(schema: z.ZodType): z.ZodType[] {
  return schema instanceof z.ZodUnion ? (schema.options as z.ZodType[]).map(unwrap) : [schema];
}

function join(path: string, key: string): string {
  return path ? `${path}.${key}` : key;
}
