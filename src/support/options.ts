import { z } from "zod";
import { nearestWord } from "./did-you-mean.ts";
import { GuardValidationError, type ValidationIssue } from "./errors.ts";
import { isRecord } from "./is-record.ts";
import type { PluginKind } from "./plugin-kind.ts";
import { describeIssue, knownKeys } from "./schema-messages.ts";

declare module "zod" {
  interface GlobalMeta {
    /** `false` for an option that does not influence the scanner's probabilities. */
    setting?: false;
    /** The TypeScript type of the option, if the schema does not define it. */
    typescript?: string;
    /** The module that declares the type in `typescript`, as a path relative to `src/`: `scan/vault.ts`. */
    typescriptFrom?: string;
    /** `true` for an option that only a program can give, such as a function. */
    programOnly?: true;
    /** The kind of plugin that the option takes. A file names the plugin, and a program gives its export. */
    plugin?: PluginKind;
    /** The JSON Schema of the value in a file, if the zod schema does not define it. */
    jsonSchema?: z.core.JSONSchema.BaseSchema;
    /**
     * The names of the option in older versions of llm-guard or in its programs. The error for such a name suggests this option.
     */
    formerly?: readonly string[];
    /** `true` for an option that is accepted only because files of llm-guard contain it. It has no effect, or is an error. */
    ofLlmGuard?: true;
    /** Why an option of llm-guard has no effect. The log warns if a file has it. */
    ignored?: string;
    /** The option of guard that replaces an option of llm-guard. */
    standsFor?: string;
  }
}

/** Marks an option that does not influence the probabilities of its scanner, such as a threshold or a name. */
export function withoutInfluence<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ setting: false });
}

/** Whether an option influences the scanner's probabilities. */
export function isSetting(schema: z.ZodType | undefined): boolean {
  return schema?.meta()?.setting !== false;
}

/**
 * Marks an option that is accepted only because files of llm-guard contain it.
 *
 * @param description what guard does with the option.
 */
export function llmGuardOption<Schema extends z.ZodType>(schema: Schema, description: string): Schema {
  return schema.meta({ ofLlmGuard: true, description: `Of llm-guard${description}` });
}

/** Converts a camelCase name to snake_case. Names in capitals, such as `EMAIL_ADDRESS`, stay. */
export function toSnakeCase(name: string): string {
  return name.replace(/(?<=[a-z\d])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The spelling of names in paths: snake_case in files, camelCase in programs. */
export type Spelling = "camelCase" | "snake_case";

/**
 * Parses a value with a schema.
 *
 * @throws GuardValidationError with the path of every invalid value and a message in plain English.
 */
export function parseOptions<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  spelling: Spelling = "camelCase",
): z.output<Schema> {
  const result = checkOptions(schema, value, spelling);
  if (result.success) return result.data;
  throw new GuardValidationError(
    result.issues.map(({ path, message }) => ({
      path: path.map((key) => (typeof key === "string" ? spell(key, spelling) : String(key))).join("."),
      message,
    })),
  );
}

/** An issue with a value. The keys of `path` are spelled as in the schema. */
export interface OptionIssue {
  path: PropertyKey[];
  message: string;
}

/** Does what {@link parseOptions} does, but returns the issues. Use it in a schema that parses a part of its value with another one. */
export function checkOptions<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  spelling: Spelling = "camelCase",
): { success: true; data: z.output<Schema> } | { success: false; issues: OptionIssue[] } {
  /** The known keys for each issue about unknown keys. The list of unknown keys identifies the issue, because zod keeps it unchanged. */
  const known = new Map<readonly string[], { keys: readonly string[]; schema: unknown }>();
  const result = schema.safeParse(value, {
    // Without this, zod would compile code for each schema, which takes longer than the few validations.
    jitless: true,
    error: (issue) => {
      if (issue.code === "unrecognized_keys") known.set(issue.keys, { keys: knownKeys(issue), schema: issue.inst });
      return describeIssue(issue);
    },
  });
  if (result.success) return { success: true, data: result.data };
  const expand = (issue: z.core.$ZodIssue, above: readonly PropertyKey[]): OptionIssue[] => {
    const path = [...above, ...issue.path];
    // An unknown key is reported at its own path, which the user has to find.
    if (issue.code === "unrecognized_keys") {
      const { keys = [], schema } = known.get(issue.keys) ?? {};
      return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, keys, schema, spelling) }));
    }
    const meant = issue.code === "invalid_union" ? issue.errors.filter(isOfItsType) : [];
    return meant.length === 1
      ? (meant[0] as z.core.$ZodIssue[]).flatMap((inner) => expand(inner, path))
      : [{ path, message: issue.message }];
  };
  return { success: false, issues: result.error.issues.flatMap((issue) => expand(issue, [])) };
}

function spell(name: string, spelling: Spelling): string {
  return spelling === "snake_case" ? toSnakeCase(name) : name;
}

/** The maximum number of known keys that an error lists. If there are more, it lists none. */
const MAX_LISTED_KEYS = 20;

/** Returns the message for an unknown key, with the most similar known key or all of them. */
function unknownKey(key: string, known: readonly string[], schema: unknown, spelling: Spelling): string {
  // A key with an underscore comes from a file, so the suggestion uses snake_case too.
  const written = (name: string) => spell(name, key.includes("_") ? "snake_case" : spelling);
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
  const successor = known.find((name) => shape[name] && metaOf(shape[name], "formerly")?.includes(toSnakeCase(key)));
  if (successor !== undefined) return `unknown key; llm-guard's ${key} is ${written(successor)} here`;
  // Options that exist only for files of llm-guard are not suggested.
  const useful = known.filter((name) => !(shape[name] && metaOf(shape[name], "ofLlmGuard")));
  const near = nearestWord(key, useful);
  // A key that is right in a file, but not here, is not suggested as it stands.
  if (near !== undefined)
    return `unknown key; did you mean ${written(near) === key ? spell(near, spelling) : written(near)}?`;
  return useful.length === 0 || useful.length > MAX_LISTED_KEYS
    ? "unknown key"
    : `unknown key; known are: ${useful.map(written).join(", ")}`;
}

/** Reads a field of a schema's metadata, or of the inner schema if this is a wrapper such as `.optional()`. */
export function metaOf<Key extends keyof z.GlobalMeta>(schema: z.ZodType, key: Key): z.GlobalMeta[Key] {
  const found = schema.meta()?.[key];
  if (found !== undefined) return found;
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType && metaOf(innerType, key);
}

/** Whether the issues of a union's option are about the content of the value and not about its type. */
function isOfItsType(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.every(({ code, path }) => code !== "invalid_type" || path.length > 0);
}

/**
 * Renames snake_case keys to the camelCase names of a schema at every depth. Unknown keys stay as they are, so that validation reports
 * them. Keys of records are never renamed.
 *
 * @throws GuardValidationError for a key in both spellings, with its path as written.
 */
export function fromSnakeCase(schema: z.ZodType, value: unknown): unknown {
  const issues: ValidationIssue[] = [];
  const renamed = renameKeys(schema, value, "", issues);
  if (issues.length > 0) throw new GuardValidationError(issues);
  return renamed;
}

function renameKeys(schema: z.ZodType, value: unknown, path: string, issues: ValidationIssue[]): unknown {
  const below = (key: string | number) => (path ? `${path}.${key}` : String(key));
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject && isRecord(value)) {
    const shape = inner.shape as Record<string, z.ZodType>;
    const bySnake = new Map(Object.keys(shape).map((key) => [toSnakeCase(key), key]));
    const spellings = new Map<string, string>();
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const known = Object.hasOwn(shape, key) ? key : bySnake.get(key);
        if (!known) return [key, item];
        const other = spellings.get(known);
        // Without this error, one of the two values would be silently ignored.
        if (other !== undefined) issues.push({ path: below(key), message: `is given twice: as ${other} too` });
        spellings.set(known, key);
        return [known, renameKeys(shape[known] as z.ZodType, item, below(key), issues)];
      }),
    );
  }
  // The keys of a record are chosen by the user, but its values may have a schema.
  if (inner instanceof z.ZodRecord && isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        renameKeys(inner.valueType as z.ZodType, item, below(key), issues),
      ]),
    );
  }
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item, index) => renameKeys(inner.element as z.ZodType, item, below(index), issues));
  }
  if (inner instanceof z.ZodUnion && (isRecord(value) || Array.isArray(value))) {
    const option = (inner.options as z.ZodType[]).find((candidate) => {
      const kind = unwrap(candidate);
      return Array.isArray(value) ? kind instanceof z.ZodArray : kind instanceof z.ZodObject && matchesTag(kind, value);
    });
    return option ? renameKeys(option, value, path, issues) : value;
  }
  return value;
}

/** Whether an object has the values of a schema's literal fields. A schema without literal fields matches every object. */
function matchesTag(schema: z.ZodObject, value: object): boolean {
  return Object.entries(schema.shape as Record<string, z.ZodType>).every(
    ([key, field]) =>
      !(field instanceof z.ZodLiteral) || field.safeParse((value as Record<string, unknown>)[key]).success,
  );
}

/** Returns the schema inside wrappers such as `.default()`, `.optional()` and transformations. */
export function unwrap(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  ) {
    return unwrap(schema.unwrap() as z.ZodType);
  }
  return schema instanceof z.ZodPipe ? unwrap(schema.in as z.ZodType) : schema;
}
