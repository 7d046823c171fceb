import { addon } from "../../native.ts";

/** Types of personal data that only models of names find. */
export const MODEL_ENTITIES = ["PERSON", "LOCATION", "ORGANIZATION"];

let pattern: RegExp | undefined;

/** The placeholders of the types that guard knows, such as `[REDACTED_EMAIL_ADDRESS_1]`, and the plain `[REDACTED]`. */
function placeholders(): RegExp {
  pattern ??= new RegExp(
    `\\[REDACTED(?:_(?:${[...addon.piiEntities(), ...MODEL_ENTITIES].join("|")})_\\d{1,9})?\\]`,
    "g",
  );
  return pattern;
}

/**
 * Returns a text with blanks in place of guard's own placeholders, of the same length. A model that never learnt from such words takes
 * them for something suspicious: "Write to [REDACTED_EMAIL_ADDRESS_1]." scores 0.99 as an injection, and with blanks 0.00.
 *
 * Placeholders of other types stay: anybody could write an order as a type.
 */
export function blankPlaceholders(text: string): string {
  return text.includes("[REDACTED") ? text.replace(placeholders(), ({ length }) => " ".repeat(length)) : text;
}
