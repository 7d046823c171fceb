import { addon } from "../../native.ts";

/** Types of personal data that only NER models find. */
export const MODEL_ENTITIES = ["PERSON", "LOCATION", "ORGANIZATION"];

let pattern: RegExp | undefined;

/** Matches placeholders of known types, such as `[REDACTED_EMAIL_ADDRESS_1]`, and the plain `[REDACTED]`. */
function placeholderPattern(): RegExp {
  pattern ??= new RegExp(
    `\\[REDACTED(?:_(?:${[...addon.piiEntities(), ...MODEL_ENTITIES].join("|")})_\\d{1,9})?\\]`,
    "g",
  );
  return pattern;
}

/**
 * Returns a text of the same length, with spaces in place of guard's placeholders. A model that was not trained with placeholders takes
 * them for something suspicious: "Write to [REDACTED_EMAIL_ADDRESS_1]." scores 0.99 as an injection, and 0.00 with spaces.
 *
 * Placeholders of other types stay, because a type can be any text, even an instruction.
 */
export function blankPlaceholders(text: string): string {
  return text.includes("[REDACTED") ? text.replace(placeholderPattern(), ({ length }) => " ".repeat(length)) : text;
}
