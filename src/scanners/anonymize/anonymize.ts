import { z } from "zod";
import { passed } from "../../scan/scanner.ts";
import { Vault } from "../../scan/vault.ts";
import { GuardValidationError } from "../../support/errors.ts";
import { defineScanner } from "../define-scanner.ts";
import type { ScannerBody } from "../definition.ts";
import { DEFAULT_TYPE, Operators, operatorsOption } from "../parts/operators.ts";
import {
  callVariants,
  coverageOf,
  PersonalDataDetector,
  type PersonalDataRequest,
  personalDataDifferences,
  personalDataOptions,
} from "../parts/personal-data.ts";
import { anonymize } from "./anonymization.ts";
import { FakeValues } from "./fake-values.ts";

export const Anonymize = defineScanner({
  type: "Anonymize",
  summary:
    "Replaces personal data by placeholders such as `[REDACTED_EMAIL_ADDRESS_1]`, or by invented values. The originals are kept in a vault, from which Deanonymize restores them.",
  description: `The scanner uses the vault of its options, or otherwise the vault of the call: \`scanPrompt(scanners, prompt, { vault })\`. A value
keeps its placeholder as long as the vault lives. Placeholders and fakes of the vault are not replaced again, so scanning a text twice
changes nothing. If a text already contains something like a placeholder, no value gets its number.

Invented values keep the format, the checksum, and the country, issuer or region of the original. Names and addresses are those of the
language, or of the script. An invented value never occurs in the text, and never equals another value of the vault.

A request may bring recognizers of its own, in the JSON of Presidio: \`ad_hoc_recognizers\` over HTTP, and \`addRecognizers(scanners, recognizers)\`
in programs. With \`explain: true\`, each finding names its recognizer, context word and check.

What llm-guard 0.3.16 does differently:

- It looks for thirteen types by default, and for patterns of the user only if their types are listed. Here everything that identifies a
  person is looked for, in all languages: people, contact data, numbers of cards, accounts and documents, and all of your own types.
  \`LOCATION\`, \`ORGANIZATION\`, \`NRP\`, \`AGE\`, \`ZIP_CODE\`, \`DOMAIN_NAME\`, \`URL\`, \`DATE_TIME\` and types of patterns such as \`DATE_RE\` are looked
  for only if \`entityTypes\` names them, or is \`all\`.
- Its default types include \`US_SSN_RE\` and \`CREDIT_CARD_RE\`, which check the format alone. Here \`US_SSN\` and \`CREDIT_CARD\` check rules and
  checksums. Next to words such as "credit card number", the format of a card number is enough. Other numbers of that format are found
  only if \`entityTypes\` names \`US_SSN_RE\` or \`CREDIT_CARD_RE\`. A \`US_SSN\` without a word such as "SSN" nearby has a score of 0.7, which is
  below the \`threshold\` of 0.75 in the file of llm-guard's API.
- It adds \`CUSTOM\` to the given list of types, and \`regex_patterns\` replace its own patterns.
- It numbers placeholders by their count, even if the text or the vault already contains that number.
- It gives a value another fake at every place, and of two values with one fake, only the first one can be restored.`,
  sides: { input: {} },
  options: () => ({
    vault: z
      .custom<Vault>((value) => value instanceof Vault, "expected a Vault, which only a program can give")
      .optional()
      .describe(
        "Where originals are kept, for Deanonymize. Default: the vault of the call. Only a program can give one.",
      )
      .meta({ typescript: "Vault", typescriptFrom: "scan/vault.ts", programOnly: true }),
    hiddenNames: z
      .array(z.string().trim().min(1))
      .default([])
      .describe(
        "Names that are always replaced, as whole words in any case, by [REDACTED_CUSTOM_1]. An accent may be a character of its own.",
      ),
    allowedNames: z
      .array(z.string().trim().min(1))
      .default([])
      .describe("Values that are never replaced, in any case."),
    ...personalDataOptions,
    preamble: z.string().default("").describe("Text that is inserted before a text with replaced values."),
    useFaker: z
      .boolean()
      .default(false)
      .describe(
        "Replaces values by invented values of the same kind and format instead of placeholders, if possible. The same as operators: { DEFAULT: { type: fake } }. Requires the package @faker-js/faker.",
      ),
    operators: operatorsOption,
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
      known.has(name.toLowerCase()) ? [{ path: `allowedNames.${index}`, message: "is also one of hiddenNames" }] : [],
    );
    if (useFaker && options.operators[DEFAULT_TYPE]) {
      issues.push({ path: "useFaker", message: "must not be given together with operators.DEFAULT" });
    }
    if (issues.length > 0) throw new GuardValidationError(issues);
    const operators = new Operators(options.operators, { type: useFaker ? "fake" : "replace" });
    const detector = new PersonalDataDetector(options, engine, { hidden, allowed }, operators);
    let loading: Promise<FakeValues> | undefined;
    const loadFakes = () => {
      if (operators.hasFakes) loading ??= FakeValues.load(detector, language, useFaker ? "useFaker" : "operators");
      return loading;
    };
    const bodyFor = (request: PersonalDataRequest): ScannerBody => ({
      sanitizes: true,
      vaultScope: options.vault === undefined ? "call" : "own",
      load: async (signal) => {
        await Promise.all([detector.load(signal), loadFakes()]);
      },
      async check(text, context) {
        const own = context.monitors ? options.vault?.monitored() : options.vault;
        const vault = own ?? context.vault ?? new Vault();
        const scan = await detector.find(text, vault, context, request);
        if (scan.findings.length === 0) return passed(text);
        const edits = await anonymize(text, scan, vault, { operators, fakes: await loadFakes() }, context);
        return {
          isValid: false,
          score: detector.score(scan),
          edits: preamble === "" ? edits : [{ start: 0, end: 0, replacement: preamble }, ...edits],
          findings: detector.findingsOf(text, scan, request),
          coverage: coverageOf(text, scan),
        };
      },
    });
    const { explain } = options;
    return { ...bodyFor({ explain }), ...callVariants(detector, explain, bodyFor) };
  },
});
