import { createHmac } from "node:crypto";
import { z } from "zod";
import { decryptWithNonce, encryptWithRandomNonce } from "../../support/authenticated-encryption.ts";
import { GuardValidationError, type ValidationIssue } from "../../support/errors.ts";
import { readSecretKey, SECRET_KEY_FORM } from "../../support/secret-keys.ts";
import { characterSegmenter } from "../../text/characters.ts";

/** The type whose operator applies to all types without their own. */
export const DEFAULT_TYPE = "DEFAULT";
/** What stands for the number in a replacement. */
export const NUMBER = "{number}";

/** Replacements may stand inside of JSON strings, so they contain nothing that has to be escaped there. */
const PLAIN = /^[^"\\\p{Cc}]*$/u;

const replace = z.strictObject({
  type: z.literal("replace"),
  newValue: z
    .string()
    .min(1)
    .max(200)
    .regex(PLAIN, "must not contain quotation marks, backslashes or control characters")
    .refine(hasValidNumber, `must have at least 3 other characters and no digit beside ${NUMBER}, which may occur once`)
    .optional()
    .describe(
      `The text in place of the value. Every value gets its own ${NUMBER}, and without it nothing can be restored. Default: the placeholder of the scanner.`,
    ),
});
const redact = z.strictObject({ type: z.literal("redact") });
const mask = z.strictObject({
  type: z.literal("mask"),
  maskingChar: z
    .string()
    .regex(/^[^"\\\p{Cc}]$/u, "expected one character, but no quotation mark or backslash")
    .default("*")
    .describe("The character in place of each masked one."),
  keepStart: z.number().int().min(0).max(100).default(0).describe("How many characters are kept at the start."),
  keepEnd: z.number().int().min(0).max(100).default(0).describe("How many characters are kept at the end."),
});
const hash = z.strictObject({
  type: z.literal("hash"),
  salt: z.string().min(16).max(1000).describe("The secret key of HMAC-SHA-256, of at least 16 characters."),
});
const encrypt = z.strictObject({
  type: z.literal("encrypt"),
  key: z
    .string()
    .refine((key) => readSecretKey(key) !== undefined, `expected ${SECRET_KEY_FORM}`)
    .describe(`The key: ${SECRET_KEY_FORM}.`),
});
const fake = z.strictObject({ type: z.literal("fake") });

/** How the values of one type are replaced. */
export type Operator = z.output<typeof restorableOperator>;

const restorableOperator = z.discriminatedUnion(
  "type",
  [replace, redact, mask, hash, encrypt, fake],
  "expected the type replace, redact, mask, hash, encrypt or fake",
);
const plainOperator = z.discriminatedUnion(
  "type",
  [replace, redact, mask, hash, encrypt],
  "expected the type replace, redact, mask, hash or encrypt",
);

const DESCRIPTION =
  "How values are replaced, by type; DEFAULT is for types without their own. replace: by new_value. redact: by nothing. mask: by " +
  "masking_char, except keep_start and keep_end characters. hash: by their HMAC-SHA-256 with salt. encrypt: encrypted with key (AES-256-GCM).";

/** The operators of a scanner with a vault. */
export const operatorsOption = z
  .record(z.string(), restorableOperator)
  .default({})
  .describe(`${DESCRIPTION} fake: by an invented value, as with use_faker.`);
/** The operators of a scanner that fills no vault, so nothing could restore a fake. */
export const operatorsWithoutVault = z.record(z.string(), plainOperator).default({}).describe(DESCRIPTION);

/** Whether {@link NUMBER} occurs at most once, and the rest distinguishes the text from ordinary numbers. */
function hasValidNumber(text: string): boolean {
  const [before = "", after, ...more] = text.split(NUMBER);
  if (after === undefined) return true;
  return more.length === 0 && (before + after).length >= 3 && !/\p{Nd}$/u.test(before) && !/^\p{Nd}/u.test(after);
}

/** Whether an operator replaces every value by a text with its own number. */
export function isNumbered(operator: Operator): boolean {
  return operator.type === "replace" && operator.newValue?.includes(NUMBER) === true;
}

/** Matches results of `hash` and `encrypt`. */
const TOKEN = /\[(?:HASHED_[^\s[\]<>]{1,100}:[0-9a-f]{64}|ENCRYPTED_[^\s[\]<>]{1,100}:[A-Za-z0-9_-]{39,})\]/gu;
const ENCRYPTED = /\[ENCRYPTED_([^\s[\]<>]{1,100}):([A-Za-z0-9_-]{39,})\]/gu;

/** The operators of a scanner by type. No message contains their keys and salts. */
export class Operators {
  readonly #byType: ReadonlyMap<string, Operator>;
  readonly #fallback: Operator;
  readonly #keys: ReadonlyMap<string, Buffer>;

  constructor(operators: Readonly<Record<string, Operator>>, fallback: Operator = { type: "replace" }) {
    this.#byType = new Map(Object.entries(operators));
    this.#fallback = this.#byType.get(DEFAULT_TYPE) ?? fallback;
    const keys = [...this.#byType.values()].flatMap((operator) => (operator.type === "encrypt" ? [operator.key] : []));
    this.#keys = new Map(keys.map((key) => [key, readSecretKey(key) as Buffer]));
  }

  /** Whether any type has fakes. */
  get hasFakes(): boolean {
    return this.#fallback.type === "fake" || [...this.#byType.values()].some(({ type }) => type === "fake");
  }

  /** Returns the operator of a type. */
  of(entity: string): Operator {
    return this.#byType.get(entity) ?? this.#fallback;
  }

  /** Whether the vault restores what replaces values of a type. */
  isRestorable(entity: string): boolean {
    const operator = this.of(entity);
    if (operator.type === "replace") return operator.newValue === undefined || isNumbered(operator);
    return operator.type === "encrypt" || operator.type === "fake";
  }

  /** Returns what replaces a value, or undefined if that depends on the text: a placeholder, a numbered text or a fake. */
  replacement(entity: string, value: string): string | undefined {
    const operator = this.of(entity);
    switch (operator.type) {
      case "replace":
        return isNumbered(operator) ? undefined : operator.newValue;
      case "redact":
        return "";
      case "mask":
        return masked(value, operator);
      case "hash":
        return `[HASHED_${entity}:${createHmac("sha256", operator.salt).update(value).digest("hex")}]`;
      case "encrypt":
        return encrypted(entity, value, this.#keys.get(operator.key) as Buffer);
      case "fake":
        return undefined;
    }
  }

  /** Returns the hashes and the encrypted values that a text already has. They must not be replaced again. */
  tokensIn(text: string): string[] {
    const isUsed = [...this.#byType.values()].some(({ type }) => type === "hash" || type === "encrypt");
    if (!isUsed) return [];
    return [...new Set(text.match(TOKEN))].filter((token) => token.startsWith("[HASHED_") || this.#decrypts(token));
  }

  #decrypts(token: string): boolean {
    return decryptTokens(token, [...this.#keys.values()]) !== token;
  }
}

/** Masks characters as people see them. If no more would be left than is kept, nothing is kept. */
function masked(value: string, { maskingChar, keepStart, keepEnd }: z.output<typeof mask>): string {
  const characters = Array.from(characterSegmenter().segment(value), ({ segment }) => segment);
  const { length } = characters;
  if (keepStart + keepEnd >= length) return maskingChar.repeat(length);
  const kept = [characters.slice(0, keepStart), characters.slice(length - keepEnd)].map((part) => part.join(""));
  return kept.join(maskingChar.repeat(length - keepStart - keepEnd));
}

function encrypted(entity: string, value: string, key: Buffer): string {
  const content = encryptWithRandomNonce(key, value, Buffer.from(entity));
  return `[ENCRYPTED_${entity}:${content.toString("base64url")}]`;
}

/**
 * Decrypts the values that the operator `encrypt` of Anonymize and Sensitive encrypted, such as `[ENCRYPTED_PERSON:...]`. Values of another key, and
 * values that somebody changed, stay as they are.
 *
 * @param keys the key of the operator, or several keys: 32 bytes in base64 or hexadecimal.
 * @throws GuardValidationError for an invalid key, without quoting it.
 */
export function decryptPersonalData(text: string, keys: string | readonly string[]): string {
  const texts = typeof keys === "string" ? [keys] : keys;
  const read = texts.map((key) => readSecretKey(key));
  const issues = read.flatMap((key, index): ValidationIssue[] =>
    key ? [] : [{ path: typeof keys === "string" ? "keys" : `keys.${index}`, message: `expected ${SECRET_KEY_FORM}` }],
  );
  if (issues.length > 0) throw new GuardValidationError(issues);
  return decryptTokens(text, read as Buffer[]);
}

function decryptTokens(text: string, keys: readonly Buffer[]): string {
  return text.replace(ENCRYPTED, (token, entity: string, content: string) => {
    for (const key of keys) {
      const value = decryptWithNonce(key, Buffer.from(content, "base64url"), Buffer.from(entity));
      if (value !== undefined) return value;
    }
    return token;
  });
}
