import { createDecipheriv } from "node:crypto";
import { z } from "zod";
import { GuardValidationError, type ValidationIssue } from "../../../support/errors.ts";
import { parseOptions } from "../../../support/options.ts";
import { DEFAULT, encryptionKey, results } from "./anonymize.ts";
import { replacePlaces } from "./replacements.ts";

/** The names of the operators. */
export const DEANONYMIZERS = ["decrypt", "deanonymize_keep"] as const;

const operator = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("decrypt"), key: encryptionKey }),
    z.looseObject({ type: z.literal("deanonymize_keep") }),
  ],
  `expected the type ${DEANONYMIZERS.join(" or ")}`,
);

export const deanonymizeRequest = z.looseObject({
  text: z.string().min(1).describe("The text of a reply of /anonymize."),
  anonymizer_results: results.describe("The items of that reply."),
  deanonymizers: z
    .record(z.string(), operator)
    .describe("How values are restored, by entity; DEFAULT is for the others."),
});

/** The length of an initialization vector and of a block of AES, in bytes. */
const BLOCK = 16;

/**
 * Restores encrypted values of a text, as Presidio's anonymizer does.
 *
 * @throws GuardValidationError for a result without an operator, or whose value the key does not decrypt. It quotes nothing of the text.
 */
export function deanonymize(request: z.output<typeof deanonymizeRequest>) {
  // The schema of the route lacks the refinements.
  const { text, anonymizer_results: given, deanonymizers } = parseOptions(deanonymizeRequest, request);
  const characters = Array.from(text);
  const places = given.map((place, index) => ({ ...place, index })).sort((a, b) => a.start - b.start || a.end - b.end);
  const issues = places.flatMap(({ start, end, index, entity_type }, order): ValidationIssue[] => {
    const path = `anonymizer_results.${index}`;
    const count = characters.length;
    if (start > end || end > count)
      return [{ path, message: `is not a part of the text, which has ${count} characters` }];
    if (order > 0 && start < (places[order - 1]?.end ?? 0)) return [{ path, message: "overlaps another result" }];
    if (operatorOf(deanonymizers, entity_type)) return [];
    return [{ path: "deanonymizers", message: `has no operator for ${entity_type}, and no ${DEFAULT}` }];
  });
  if (issues.length > 0) throw new GuardValidationError(issues);
  const indexes = new Map(places.map((place) => [place as object, place.index]));
  return replacePlaces(characters, places, (place) => {
    const value = characters.slice(place.start, place.end).join("");
    const operator = operatorOf(deanonymizers, place.entity_type);
    if (operator?.type !== "decrypt") return { text: value, operator: "deanonymize_keep" };
    const decrypted = decrypt(value, Buffer.from(operator.key));
    if (decrypted !== undefined) return { text: decrypted, operator: "decrypt" };
    const path = `anonymizer_results.${indexes.get(place)}`;
    throw new GuardValidationError([{ path, message: "is not a value that this key has encrypted" }]);
  });
}

function operatorOf<Operator>(operators: Readonly<Record<string, Operator>>, entity: string): Operator | undefined {
  const { [entity]: own, [DEFAULT]: fallback } = operators;
  return own ?? fallback;
}

/** Decrypts base64url of an initialization vector and of AES-CBC. Undefined if the key did not encrypt the value. */
function decrypt(value: string, key: Buffer): string | undefined {
  if (!/^[\w+/-]+={0,2}$/.test(value)) return undefined;
  const bytes = Buffer.from(value, "base64");
  if (bytes.length < 2 * BLOCK || bytes.length % BLOCK !== 0) return undefined;
  const decipher = createDecipheriv(`aes-${key.length * 8}-cbc`, key, bytes.subarray(0, BLOCK));
  try {
    const decrypted = Buffer.concat([decipher.update(bytes.subarray(BLOCK)), decipher.final()]);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(decrypted);
  } catch {
    // The padding or the UTF-8 is invalid, so the key is another one.
    return undefined;
  }
}
