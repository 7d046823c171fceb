import { z } from "zod";
import { GuardValidationError, type ValidationIssue } from "../errors.ts";
import { isReservedName, RESERVED_NAME } from "../result-names.ts";
import { isRecord } from "../support/is-record.ts";
import { nearest } from "./did-you-mean.ts";
import { knownKeys, plainWords } from "./plain-words.ts";

declare module "zod" {
  interface GlobalMeta {
    /** `false` for an option that the probabilities of a scanner do not come from. */
    setting?: false;
    /** The type of the option in TypeScript, where its schema does not tell. */
    typescript?: string;
    /** The module that declares the type named by `typescript`, seen from `src/`: `vault.ts`. */
    typescriptFrom?: string;
    /** `true` for what only a program can give, such as a function: a file has no way to write it. */
    programOnly?: true;
    /** What a file may give, as a JSON Schema, where the zod schema does not tell. */
    jsonSchema?: z.core.JSONSchema.BaseSchema;
    /** Names that the option had in older versions of llm-guard, or has in its programs: an error says what stands in their place. */
    formerly?: readonly string[];
    /** `true` for an option that is only there because files of llm-guard have it: it has no effect here, or is an error. */
    ofLlmGuard?: true;
  }
}

/** Marks an option that the probabilities of its scanner do not come from, such as a threshold or a name. */
export function notASetting<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ setting: false });
}

/** Whether the probabilities of a scanner come from an option, among others. */
export function isSetting(schema: z.ZodType | undefined): boolean {
  return schema?.meta()?.setting !== false;
}

/**
 * Marks an option that is only there because files of llm-guard have it.
 *
 * @param description what becomes of it here.
 */
export function ofLlmGuard<Schema extends z.ZodType>(schema: Schema, description: string): Schema {
  return schema.meta({ ofLlmGuard: true, description: `Of llm-guard${description}` });
}

/** Options that every scanner has. */
export const commonOptions = {
  name: notASetting(
    z
      .string()
      .min(1)
      .refine((name) => !isReservedName(name), RESERVED_NAME)
      .optional()
      .describe("Name in results, for a scanner that is listed more than once."),
  ),
};

/** The disguises that views of a text undo. */
export const DISGUISES =
  "look-alike, invisible and upside-down characters, overrides of the writing direction, leetspeak, spaced-out letters, " +
  "base64, base32, hex, binary, percent encoding, HTML entities, escapes, Morse, rot13 and reversed writing";

/** Options that scanners with rules have. */
export const ruleOptions = {
  deobfuscate: z.boolean().default(false).describe(`Also looks at what the text says when ${DISGUISES} are undone.`),
};

/** The snake_case form of a camelCase name. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** How an issue's path is written: names of a file in snake_case, of a program in camelCase. */
export type Spelling = "camelCase" | "snake_case";

/**
 * Checks a value against a schema.
 *
 * @throws GuardValidationError with the path of every value at fault, and what is wrong with it in plain words.
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

/** What is wrong with a value at a path of keys, as the schema spells them. */
export interface OptionIssue {
  path: PropertyKey[];
  message: string;
}

/** What {@link parseOptions} does, without the error: for a schema that checks a part of its value by another one. */
export function checkOptions<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  spelling: Spelling = "camelCase",
): { success: true; data: z.output<Schema> } | { success: false; issues: OptionIssue[] } {
  /** The keys that were known where others were found, by the list of the latter, which an issue keeps as it is. */
  const known = new Map<readonly string[], { keys: readonly string[]; schema: unknown }>();
  const result = schema.safeParse(value, {
    error: (issue) => {
      if (issue.code === "unrecognized_keys") known.set(issue.keys, { keys: knownKeys(issue), schema: issue.inst });
      return plainWords(issue);
    },
  });
  if (result.success) return { success: true, data: result.data };
  const told = (issue: z.core.$ZodIssue, above: readonly PropertyKey[]): OptionIssue[] => {
    const path = [...above, ...issue.path];
    // An unknown key is reported at the key itself: that is what the user has to look for.
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

/** More known keys than these are not listed. */
const SHOWN_KEYS = 20;

/** What is said of a key that nobody knows: the one that may have been meant, otherwise all that there are. */
function unknownKey(key: string, known: readonly string[], schema: unknown, spelling: Spelling): string {
  // Whoever writes an underscore writes files, whatever the schema is checked for.
  const written = (name: string) => spelled(name, key.includes("_") ? "snake_case" : spelling);
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
  const successor = known.find((name) => shape[name] && metaOf(shape[name], "formerly")?.includes(toSnakeCase(key)));
  if (successor !== undefined) return `unknown key; what llm-guard called ${key} is ${written(successor)} here`;
  // What is only there for llm-guard's files is no help.
  const useful = known.filter((name) => !(shape[name] && metaOf(shape[name], "ofLlmGuard")));
  const near = nearest(key, useful);
  if (near !== undefined) return `unknown key; did you mean ${written(near)}?`;
  return useful.length === 0 || useful.length > SHOWN_KEYS
    ? "unknown key"
    : `unknown key; known are: ${useful.map(written).join(", ")}`;
}

/** What a schema says of itself, or of what stands inside of a wrapper such as `.optional()`. */
export function metaOf<Key extends keyof z.GlobalMeta>(schema: z.ZodType, key: Key): z.GlobalMeta[Key] {
  const found = schema.meta()?.[key];
  if (found !== undefined) return found;
  const { innerType } = schema.def as { innerType?: z.ZodType };
  return innerType && metaOf(innerType, key);
}

/** Whether these complaints, of one of the forms that a value may have, are of what is in it. */
function isOfItsType(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.every(({ code, path }) => code !== "invalid_type" || path.length > 0);
}

/**
 * Renames snake_case keys to the camelCase names of a schema, at every depth that the schema describes. Keys that it does
 * not know stay as they are, for the check that follows to complain of; keys of free maps are never touched.
 *
 * @throws GuardValidationError for a key that stands there in both spellings, with its path as it is written.
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
        // One of the two values would be ignored without a word.
        if (other !== undefined) issues.push({ path: below(key), message: `is given twice: as ${other} too` });
        spellings.set(known, key);
        return [known, renameKeys(shape[known] as z.ZodType, item, below(key), issues)];
      }),
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

/** Whether the literal fields of an object schema, if any, have the values that the object has. */
function matchesTag(schema: z.ZodObject, value: object): boolean {
  return Object.entries(schema.shape as Record<string, z.ZodType>).every(
    ([key, field]) =>
      !(field instanceof z.ZodLiteral) || field.safeParse((value as Record<string, unknown>)[key]).success,
  );
}

/** The schema inside of defaults, optional marks and transformations. */
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
