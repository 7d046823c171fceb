import { createHash, createHmac } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "../../support/canonical-json.ts";
import type { Side } from "../scanner.ts";
import { SOURCES } from "../source.ts";

/** The form of {@link Exception.textHash}. */
const TEXT_HASH = /^hmac-sha256:[0-9a-f]{64}$/;

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The fields of an exception that select texts and parts of texts. */
const conditions = {
  textHash: z
    .string()
    .regex(TEXT_HASH, "expected hmac-sha256: and 64 hexadecimal digits, as guard-scan hash-text prints")
    .optional()
    .describe("Keyed hash of an exact text, from guard-scan hash-text."),
  substring: z
    .string()
    .refine((text) => text.trim().length >= 2, "expected at least two characters")
    .optional()
    .describe("A passage, with the same upper and lower case."),
  pattern: z.string().min(1).optional().describe("A regular expression for passages, as in the scanner Regex."),
  sources: z.array(z.enum(SOURCES)).min(1).optional().describe("Only texts of these sources."),
  credentials: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe("Only requests with these credentials, by their names in auth."),
};

/** The fields of an exception in the configuration, besides the scanners. */
export const exceptionFields = {
  id: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "expected letters, digits, dots, hyphens and underscores, 64 at most")
    .optional()
    .describe("Name in reports, metrics and the audit log. Default: made from the conditions."),
  ...conditions,
  reason: z.string().trim().min(1).max(500).describe("Why the exception exists."),
  expires: z
    .string()
    .refine(
      (text) => expiryOf(text) !== undefined,
      "expected a date such as 2027-03-31, or a time such as 2027-03-31T12:00:00Z",
    )
    .describe("The last day on which it works (UTC), or the time at which it ends."),
};

export const exceptionScanners = z
  .array(z.string().min(1))
  .min(1)
  .describe("Names or types of scanners, or ConversationRisk.");

/** The conditions of an exception. */
type Conditions = { readonly [Key in keyof typeof conditions]?: z.output<(typeof conditions)[Key]> };

/** A text, or a part of a text, that scanners must not fail. */
export interface Exception extends Conditions {
  readonly id: string;
  readonly scanners: readonly string[];
  /** The side of the scanners, if only one side has the exception. */
  readonly side?: Side | undefined;
  readonly reason: string;
  readonly expires: string;
}

/** The conditions that describe a text or a passage. An exception has at most one of them. */
const CONTENT = ["textHash", "substring", "pattern"] as const;

/**
 * Adds an issue for an exception that excepts everything or mixes conditions that are alternatives.
 *
 * @param texts the names of further fields that describe a text.
 */
export function checkConditions(
  given: Readonly<Record<string, unknown>>,
  context: z.RefinementCtx,
  texts: readonly string[] = [],
): void {
  const content = [...texts, ...CONTENT].filter((key) => given[key] !== undefined);
  const [, second] = content;
  if (second !== undefined) {
    const message = `cannot be combined with ${content[0]}: write two exceptions`;
    context.addIssue({ code: "custom", path: [second], message });
  }
  if (content.length === 0 && given.sources === undefined && given.credentials === undefined) {
    context.addIssue({
      code: "custom",
      message: "expected what it excepts: a text, substring, pattern, sources or credentials",
    });
  }
}

/** Returns the keyed hash of a text; HMAC-SHA-256, RFC 2104. White space around the text does not count. */
export function hashOfText(key: Uint8Array, text: string): string {
  return `hmac-sha256:${createHmac("sha256", key).update(text.trim(), "utf16le").digest("hex")}`;
}

/** Returns the id of an exception without one. Equal conditions have equal ids. */
export function idOf({
  id,
  reason: _,
  expires: __,
  ...conditions
}: Omit<Exception, "id"> & { id?: string | undefined }): string {
  return id ?? `ex-${createHash("sha256").update(canonicalJson(conditions)).digest("hex").slice(0, 12)}`;
}

/** Returns the time in milliseconds since 1970 at which an exception ends. Undefined for an invalid date. */
export function expiryOf(expires: string): number | undefined {
  if (!DATE.test(expires))
    return z.iso.datetime({ offset: true }).safeParse(expires).success ? Date.parse(expires) : undefined;
  const day = new Date(`${expires}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== expires) return undefined;
  return day.setUTCDate(day.getUTCDate() + 1);
}
