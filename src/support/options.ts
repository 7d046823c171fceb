import { z } from "zod";
import { nearestWord } from "./did-you-mean.ts";
import { GuardValidationError, type ValidationIssue } from "./errors.ts";
import { isRecord } from "./is-record.ts";
import type { PluginKind } from "./plugin-kind.ts";
import { describeIssue, knownKeys } from "./schema-messages.ts";

declare module "zod" {
  interface GlobalMeta {
    /** `false` for an option that does not influence the probabilities of its scanner. */
    setting?: false;
    /** The TypeScript type of the option, for schemas that do not tell it. */
    typescript?: string;
    /** The module that declares the type in `typescript`, as a path relative to `src/`: `scan/vault.ts`. */
    typescriptFrom?: string;
    /** `true` for an option that only a program can give, such as a function, because a file has no way to write it. */
    programOnly?: true;
    /** What kind of plugin the option takes. A file names it, and a program gives what the plugin would export. */
    plugin?: PluginKind;
    /** A JSON Schema of what a file may contain, for zod schemas that do not tell it. */
    jsonSchema?: z.core.JSONSchema.BaseSchema;
    /**
     * The names that the option had in older versions of llm-guard, or has in its programs. When a user writes one of them, the
     * error names this option instead.
     */
    formerly?: readonly string[];
    /** `true` for an option that exists only because files of llm-guard contain it. It has no effect here, or it is an error. */
    ofLlmGuard?: true;
    /** Why an option of llm-guard's files does nothing here. The log warns of it where a file has it. */
    ignored?: string;
    /** The option of guard that an option of llm-guard's files stands for. */
    standsFor?: string;
  }
}

/** Marks an option that does not influence the probabilities of its scanner, such as a threshold or a name. */
export function notASetting<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ setting: false });
}

/** Tells whether an option influences the probabilities of its scanner. */
export function isSetting(schema: z.ZodType | undefined): boolean {
  return schema?.meta()?.setting !== false;
}

/**
 * Marks an option that exists only because files of llm-guard contain it.
 *
 * @param description says what guard does with the option.
 */
export function ofLlmGuard<Schema extends z.ZodType>(schema: Schema, description: string): Schema {
  return schema.meta({ ofLlmGuard: true, description: `Of llm-guard${description}` });
}

/** Turns a camelCase name into snake_case. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** How the path of an issue spells names: files use snake_case, and programs use camelCase. */
export type Spelling = "camelCase" | "snake_case";

/**
 * Checks a value against a schema and returns the parsed value.
 *
 * @throws GuardValidationError with the path of every value at fault, and with a message in plain words that says what is wrong
 *   with it.
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
      path: path.map((key) => (typeof key === "string" ? spelled(key, spelling) : String(key))).join("."),
      message,
    })),
  );
}

/** One thing that is wrong with a value. `path` is a list of keys, spelled as in the schema. */
export interface OptionIssue {
  path: PropertyKey[];
  message: string;
}

/**
 * Does what {@link parseOptions} does, but returns the issues instead of throwing an error. It is for a schema that checks a part
 * of its value with another schema.
 */
export function checkOptions<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  spelling: Spelling = "camelCase",
): { success: true; data: z.output<Schema> } | { success: false; issues: OptionIssue[] } {
  /**
   * For each issue about unknown keys: the keys that the schema knows. An issue keeps its list of unknown keys unchanged, so that
   * list serves as the key of this map.
   */
  const known = new Map<readonly string[], { keys: readonly string[]; schema: unknown }>();
  const result = schema.safeParse(value, {
    // zod would write and compile a program for each schema, which takes longer than the few checks for which it is there.
    jitless: true,
    error: (issue) => {
      if (issue.code === "unrecognized_keys") known.set(issue.keys, { keys: knownKeys(issue), schema: issue.inst });
      return describeIssue(issue);
    },
  });
  if (result.success) return { success: true, data: result.data };
  const told = (issue: z.core.$ZodIssue, above: readonly PropertyKey[]): OptionIssue[] => {
    const path = [...above, ...issue.path];
    // An unknown key is reported at the path of the key itself, because that is what the user has to look for.
    if (issue.code === "unrecognized_keys") {
      const { keys = [], schema } = known.get(issue.keys) ?? {};
      return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, keys, schema, spelling) }));
    }
    const meant = issue.code === "invalid_union" ? issue.errors.filter(isOfItsType) : [];
    return meant.length === 1
      ? (meant[0] as z.core.$ZodIssue[]).flatMap((inner) => told(inner, path))
      : [{ path, message: issue.message }];
  };
  return { success: false, issues: result.error.issues.flatMap((issue) => told(issue, [])) };
}

function spelled(name: string, spelling: Spelling): string {
  return spelling === "snake_case" ? toSnakeCase(name) : name;
}

/** The most known keys that an error lists. When there are more, it lists none. */
const SHOWN_KEYS = 20;

/** The message for an unknown key. It names the key that may have been meant, or else lists all known keys. */
function unknownKey(key: string, known: readonly string[], schema: unknown, spelling: Spelling): string {
  // A key with an underscore comes from somebody who writes files, so the suggestion uses snake_case too, whatever the schema is
  // checked for.
  const written = (name: string) => spelled(name, key.includes("_") ? "snake_case" : spelling);
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
  const successor = known.find((name) => shape[name] && metaOf(shape[name], "formerly")?.includes(toSnakeCase(key)));
  if (successor !== undefined) return `unknown key; what llm-guard called ${key} is ${written(successor)} here`;
  // Options that exist only for llm-guard's files are no help to the user, so they are not suggested.
  const useful = known.filter((name) => !(shape[name] && metaOf(shape[name], "ofLlmGuard")));
  const near = nearestWord(key, useful);
  if (near !== undefined) return `unknown key; did you mean ${written(near)}?`;
  return useful.length === 0 || useful.length > SHOWN_KEYS
    ? "unknown key"
    : `unknown key; known are: ${useful.map(written).join(", ")}`;
}

/**
 * Reads a field of a schema's metadata. When the schema is a wrapper such as `.optional()`, the metadata of the inner schema is
 * read too.
 */
export function metaOf<Key extends keyof z.GlobalMeta>(schema: z.ZodType, key: Key): z.GlobalMeta[Key] {
  const found = schema.meta()?.[key];
  if (found !== undefined) return found;
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType && metaOf(innerType, key);
}

/**
 * Tells whether a value has the type of one of its possible forms, so that these issues are about its content and not about its
 * type.
 */
function isOfItsType(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.every(({ code, path }) => code !== "invalid_type" || path.length > 0);
}

/**
 * Renames snake_case keys to the camelCase names of a schema, at every depth that the schema describes. Keys that the schema does
 * not know stay as they are, so that the check that follows reports them. Keys of free maps are never renamed.
 *
 * @throws GuardValidationError for a key that is given in both spellings, with its path as it is written.
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
  // The keys of a record are names that the user chose, but what stands at them may be described.
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

/**
 * Tells whether an object has the values that the literal fields of an object schema ask for. A schema without literal fields
 * accepts every object.
 */
function matchesTag(schema: z.ZodObject, value: object): boolean {
  return Object.entries(schema.shape as Record<string, z.ZodType>).every(
    ([key, field]) =>
      !(field instanceof z.ZodLiteral) || field.safeParse((value as Record<string, unknown>)[key]).success,
  );
}

/** Returns the schema inside defaults, optional marks and transformations. */
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
