import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { GuardValidationError, type ValidationIssue } from "../../../support/errors.ts";
import { parseOptions } from "../../../support/options.ts";
import { replacePlaces } from "./replacements.ts";

/** The entity whose operator applies to all entities without their own. */
export const DEFAULT = "DEFAULT";
/** The names of the operators. */
export const OPERATORS = ["encrypt", "hash", "keep", "mask", "redact", "replace"] as const;

export const encryptionKey = z
  .string()
  .refine((key) => [16, 24, 32].includes(Buffer.byteLength(key)), "must have 16, 24 or 32 bytes")
  .describe("The key of AES-CBC.");

const operator = z.discriminatedUnion(
  "type",
  [
    z.looseObject({
      type: z.literal("replace"),
      new_value: z.string().nullish().describe("Default: the entity in angle brackets."),
    }),
    z.looseObject({ type: z.literal("redact") }),
    z.looseObject({
      type: z.literal("mask"),
      masking_char: z.string().refine((text) => Array.from(text).length === 1, "expected one character"),
      chars_to_mask: z.int().describe("How many characters to mask."),
      from_end: z.boolean().nullish().describe("Whether the last ones are masked."),
    }),
    z.looseObject({
      type: z.literal("hash"),
      hash_type: z.enum(["sha256", "sha512"]).nullish().describe("Default: sha256."),
      salt: z
        .string()
        .refine((salt) => Buffer.byteLength(salt) >= 16, "must have at least 16 bytes")
        .nullish()
        .describe("Follows the value in the hash. Default: random bytes for each value."),
    }),
    z.looseObject({ type: z.literal("encrypt"), key: encryptionKey }),
    z.looseObject({ type: z.literal("keep") }),
  ],
  `expected the type ${OPERATORS.join(", ")}; custom operators are functions of a program`,
);
type Operator = z.output<typeof operator>;

/** Pieces of a text with their entities. */
export const results = z.array(
  z.looseObject({
    entity_type: z.string().min(1),
    start: z.int().min(0).describe("Start in the text, in code points."),
    end: z.int().min(0).describe("Exclusive end in the text, in code points."),
    score: z.number().nullish(),
  }),
);

export const anonymizeRequest = z.looseObject({
  text: z.string().min(1).describe("The text that was analyzed."),
  analyzer_results: results.describe("The results of /analyze."),
  anonymizers: z
    .record(z.string(), operator)
    .nullish()
    .describe("How values are replaced, by entity; DEFAULT is for the others. Default: replace."),
});
type AnonymizeRequest = z.output<typeof anonymizeRequest>;

interface Entity {
  entity_type: string;
  start: number;
  end: number;
  score: number;
}

/**
 * Replaces the given results in a text, as Presidio's anonymizer does. Nothing is scanned.
 *
 * @throws GuardValidationError for results outside of the text.
 */
export function anonymize(request: AnonymizeRequest) {
  // The schema of the route lacks the refinements.
  const { text, analyzer_results: given, anonymizers } = parseOptions(anonymizeRequest, request);
  const characters = Array.from(text);
  const issues = given.flatMap(({ start, end }, index): ValidationIssue[] =>
    start > end || end > characters.length
      ? [
          {
            path: `analyzer_results.${index}`,
            message: `is not a part of the text, which has ${characters.length} characters`,
          },
        ]
      : [],
  );
  if (issues.length > 0) throw new GuardValidationError(issues);
  const entities = resolve(
    given.map(({ entity_type, start, end, score }) => ({ entity_type, start, end, score: score ?? 0 })),
    characters,
  );
  return replacePlaces(characters, entities, ({ entity_type, start, end }) => {
    const { [entity_type]: own, [DEFAULT]: fallback } = anonymizers ?? {};
    const chosen = own ?? fallback ?? { type: "replace" };
    return { text: operate(chosen, entity_type, characters.slice(start, end)), operator: chosen.type };
  });
}

/**
 * Returns entities in order. As in Presidio, overlapping entities of one type are joined, entities inside of others are dropped, and of two in
 * the same place the one with the higher score is kept, or else the later one; entities of one type with spaces between them are joined.
 */
function resolve(given: readonly Entity[], characters: readonly string[]): Entity[] {
  const joined: (Entity & { position: number })[] = [];
  const lastOfType = new Map<string, Entity & { position: number }>();
  const positioned = given.map((entity, position) => ({ ...entity, position }));
  for (const entity of positioned.sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = lastOfType.get(entity.entity_type);
    if (last && entity.start < last.end) {
      last.end = Math.max(last.end, entity.end);
      last.score = Math.max(last.score, entity.score);
      last.position = Math.max(last.position, entity.position);
    } else {
      joined.push(entity);
      lastOfType.set(entity.entity_type, entity);
    }
  }
  const resolved: Entity[] = [];
  // The longest one of those with the same start comes first.
  for (const entity of joined.sort(
    (a, b) => a.start - b.start || b.end - a.end || b.score - a.score || b.position - a.position,
  )) {
    const last = resolved.at(-1);
    if (last && entity.end <= last.end) continue;
    if (last?.entity_type === entity.entity_type && isSpaces(characters.slice(last.end, entity.start))) {
      last.end = entity.end;
    } else resolved.push(entity);
  }
  return resolved;
}

function isSpaces(characters: readonly string[]): boolean {
  return characters.length > 0 && characters.every((character) => character === " ");
}

function operate(operator: Operator, entity: string, characters: readonly string[]): string {
  const value = characters.join("");
  switch (operator.type) {
    case "replace":
      return operator.new_value ?? `<${entity}>`;
    case "redact":
      return "";
    case "keep":
      return value;
    case "mask": {
      const { masking_char: mask, chars_to_mask: wanted, from_end: isFromEnd } = operator;
      const count = Math.min(Math.max(wanted, 0), characters.length);
      const kept = isFromEnd ? characters.slice(0, characters.length - count) : characters.slice(count);
      const masked = mask.repeat(count);
      return isFromEnd ? kept.join("") + masked : masked + kept.join("");
    }
    case "hash": {
      const { hash_type: type, salt } = operator;
      return createHash(type ?? "sha256")
        .update(value)
        .update(salt ?? randomBytes(32))
        .digest("hex");
    }
    case "encrypt":
      return encrypt(value, Buffer.from(operator.key));
  }
}

/** Encrypts as Presidio does, so that its own code decrypts it: base64url of the IV and of AES-CBC. */
function encrypt(value: string, key: Buffer): string {
  const iv = randomBytes(16);
  const cipher = createCipheriv(`aes-${key.length * 8}-cbc`, key, iv);
  const bytes = Buffer.concat([iv, cipher.update(value, "utf8"), cipher.final()]);
  return bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}
