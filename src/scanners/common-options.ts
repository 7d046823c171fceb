import { z } from "zod";
import { modeSetting } from "../scan/mode.ts";
import { isReservedName, RESERVED_NAME } from "../scan/report.ts";
import { withoutInfluence } from "../support/options.ts";

/** The options that every scanner has. */
export const commonOptions = {
  name: withoutInfluence(
    z
      .string()
      .min(1)
      .refine((name) => !isReservedName(name), RESERVED_NAME)
      .optional()
      .describe("Name in results, for a scanner that is listed more than once."),
  ),
  mode: withoutInfluence(
    modeSetting
      .optional()
      .describe(
        "enforce: a failing text is blocked or rewritten. monitor: it goes on unchanged, and the report tells what would have happened. off: the scanner does not run. One for all texts, or by source. Default: enforce.",
      )
      .meta({ typescript: "ModeSetting", typescriptFrom: "scan/mode.ts" }),
  ),
};

/** The disguises that views of a text undo, for descriptions of options. */
export const DISGUISES =
  "look-alike, invisible and upside-down characters, writing direction overrides, leetspeak, spaced-out letters, markup within words, " +
  "base64, base32, base58, base85, hex, binary, character codes, percent-encoding, quoted-printable, uuencode, HTML entities, escapes, Morse, " +
  "the spelling alphabet, Caesar ciphers, Atbash, rot47, compression within encodings and reversed writing";

/** What scanners that compare an answer with its prompt do without one, for their descriptions. */
export const WITHOUT_PROMPT =
  "Without a prompt there is nothing to compare: the answer passes, and its coverage says that nothing was scanned.";

/** The option of scanners that explain their findings. */
export const explainOption = {
  explain: z
    .boolean()
    .default(false)
    .describe(
      "Adds to each finding what made the scanner report it: the recognizer, rule, pattern or model, and a failed checksum.",
    ),
};

/** The options that all scanners with rules have. */
export const ruleOptions = {
  deobfuscate: z.boolean().default(false).describe(`Also scans the decoded text, in which ${DISGUISES} are undone.`),
};
