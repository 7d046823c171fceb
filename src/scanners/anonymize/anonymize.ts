import { z } from "zod";
import { passed } from "../../scan/scanner.ts";
import { Vault } from "../../scan/vault.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { defineScanner } from "../definition.ts";
import {
  coverageOf,
  findingsOf,
  PersonalDataDetector,
  personalDataDifferences,
  personalDataOptions,
} from "../parts/personal-data.ts";
import { anonymize } from "./anonymization.ts";
import { FakeValues } from "./fake-values.ts";

export const Anonymize = defineScanner({
  type: "Anonymize",
  summary:
    "Replaces personal data by placeholders such as `[REDACTED_EMAIL_ADDRESS_1]`, or by invented values, and keeps the originals in a vault, from which Deanonymize restores them.",
  description: `The vault is its own, where it was given one, or else that of the call: \`scanPrompt(scanners, prompt, { vault })\`. A value
keeps its placeholder as long as the vault lives. Placeholders and fakes in it are left alone, so scanning a text again changes
nothing. What the text itself has that looks like a placeholder is no one's: its number is not given away.

Invented values keep the format, the checksum, and the country, issuer or region of what they replace; names and addresses
are those of the language, or of the script. None is a part of the text, nor another value of the vault.

What llm-guard 0.3.16 does differently:

- It looks for thirteen types by default, and so for no pattern of the user unless its type is listed. Here it is for all that
  identifies a person, in all languages: people, contact data, numbers of cards, accounts and documents, and for all types of your
  own. \`LOCATION\`, \`ORGANIZATION\`, \`NRP\`, \`AGE\`, \`ZIP_CODE\`, \`DOMAIN_NAME\`, \`URL\`, \`DATE_TIME\` and those of patterns such as \`DATE_RE\` are looked for only where
  \`entityTypes\` names them, or is \`all\`.
- Its defaults have \`US_SSN_RE\` and \`CREDIT_CARD_RE\` too, which go by the form alone. Here \`US_SSN\` and \`CREDIT_CARD\` go by rule and
  checksum; beside words such as "credit card number", the form of a card is enough. Other numbers of that form are found only where
  \`entityTypes\` names \`US_SSN_RE\` or \`CREDIT_CARD_RE\`. A \`US_SSN\` without a word such as "SSN" nearby has a score of 0.7, so not with the \`threshold\` of 0.75 that the file of llm-guard's API has.
- It adds \`CUSTOM\` to the list that it was given, and \`regex_patterns\` take the place of its own.
- Its numbers are those of how many placeholders there are, also where the text or the vault has that one already.
- It gives one value another fake at every place, and of two values with one fake only the first can be restored.`,
  sides: { input: {} },
  options: () => ({
    vault: z
      .custom<Vault>((value) => value instanceof Vault, "expected a Vault; a file cannot give one")
      .optional()
      .describe("Where originals are kept, for Deanonymize. Default: the vault of the call. A file cannot give one.")
      .meta({ typescript: "Vault", typescriptFrom: "scan/vault.ts", programOnly: true }),
    hiddenNames: z
      .array(z.string().trim().min(1))
      .default([])
      .describe("Names that are always replaced, as whole words in any case: [REDACTED_CUSTOM_1]."),
    allowedNames: z
      .array(z.string().trim().min(1))
      .default([])
      .describe("Values that are never replaced, in any case."),
    ...personalDataOptions,
    preamble: z.string().default("").describe("Text to put before a text in which something was replaced."),
    useFaker: z
      .boolean()
      .default(false)
      .describe(
        "Replaces values by invented ones of the same kind and format, where there are such, in place of placeholders. Needs the package @faker-js/faker.",
      ),
  }),
  differences: [...personalDataDifferences],
  findings: [{ type: "personal_data", label: "The kind of data, such as `EMAIL_ADDRESS`." }],
  examples: {
    passes: ["The meeting is about the new budget."],
    fails: [{ text: "Write to jane.doe@gmail.com.", sanitized: "Write to [REDACTED_EMAIL_ADDRESS_1]." }],
  },
  create({ options, engine }) {
    const { hiddenNames: hidden, allowedNames: allowed, useFaker, language, preamble } = options;
    const known = new Set(hidden.map((name) => name.toLowerCase()));
    const issues = allowed.flatMap((name, index) =>
      known.has(name.toLowerCase()) ? [{ path: `allowedNames.${index}`, message: "is one of hiddenNames too" }] : [],
    );
    if (issues.length > 0) throw new GuardValidationError(issues);
    const detector = new PersonalDataDetector(options, engine, { hidden, allowed });
    let loading: Promise<FakeValues> | undefined;
    const loadFakes = () => {
      if (useFaker) loading ??= FakeValues.load(detector, language);
      return loading;
    };
    return {
      sanitizes: true,
      vaultScope: options.vault === undefined ? "call" : "own",
      load: async (signal) => {
        await Promise.all([detector.load(signal), loadFakes()]);
      },
      close: () => detector.close(),
      async check(text, context) {
        const vault = options.vault ?? context.vault ?? new Vault();
        const scan = await detector.find(text, vault, context);
        if (scan.findings.length === 0) return passed(text);
        const edits = await anonymize(text, scan, vault, await loadFakes(), context.signal);
        return {
          isValid: false,
          score: detector.score(scan),
          edits: preamble === "" ? edits : [{ start: 0, end: 0, replacement: preamble }, ...edits],
          findings: findingsOf(text, scan),
          coverage: coverageOf(text, scan),
        };
      },
    };
  },
});
