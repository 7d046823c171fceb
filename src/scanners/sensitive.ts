import { z } from "zod";
import type { Abortable, PiiFinding } from "../native.ts";
import type { Edit } from "../scan/edits.ts";
import { passed } from "../scan/scanner.ts";
import { GuardValidationError } from "../support/errors.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { defineScanner } from "./define-scanner.ts";
import type { ScannerBody } from "./definition.ts";
import { isNumbered, NUMBER, type Operator, type Operators, operatorsWithoutVault } from "./parts/operators.ts";
import {
  callVariants,
  coverageOf,
  editsInSlices,
  PersonalDataDetector,
  type PersonalDataRequest,
  personalDataDifferences,
  personalDataOptions,
} from "./parts/personal-data.ts";
import type { PiiScan } from "./parts/pii-scan.ts";
import { withEdits } from "./parts/redaction.ts";

/** How much of a streamed answer is held back, in UTF-16 code units: the longest values of embedded recognizers. */
const SPAN = 80;

export const Sensitive = defineScanner({
  type: "Sensitive",
  summary: "Fails answers with personal data, and can redact it.",
  description:
    "It finds the same as Anonymize (which describes `US_SSN_RE` and `CREDIT_CARD_RE` of llm-guard), except for placeholders and fakes in " +
    "the vault of the call.",
  sides: { output: {} },
  options: () => ({
    ...personalDataOptions,
    redact: z
      .boolean()
      .default(false)
      .describe("Replaces each finding by its type in angle brackets: <EMAIL_ADDRESS>, or as operators say."),
    operators: operatorsWithoutVault,
  }),
  differences: [...personalDataDifferences],
  findings: [{ type: "personal_data", label: "The kind of data, such as `EMAIL_ADDRESS`." }],
  examples: {
    options: { redact: true },
    passes: ["The meeting is about the new budget."],
    fails: [{ text: "Write to jane.doe@gmail.com.", sanitized: "Write to <EMAIL_ADDRESS>." }],
  },
  create({ options, engine }) {
    checkOperators(options);
    const detector = new PersonalDataDetector(options, engine);
    const bodyFor = ({ adHoc, explain, types }: PersonalDataRequest): ScannerBody => ({
      sanitizes: options.redact,
      streaming: {
        ...{ reads: "spans", span: Math.max(SPAN, adHoc?.longestText ?? 0), across: adHoc?.longestText ?? 0 },
        before: 512,
        byModel: options.recognizerConf.length > 0,
      },
      load: (signal) => detector.load(signal),
      async check(text, context) {
        const scan = await detector.find(text, context.vault, context, { adHoc, types });
        if (scan.findings.length === 0) return passed(text);
        return {
          isValid: false,
          score: detector.score(scan),
          ...withEdits(options.redact ? await replacements(text, scan, detector.operators, context) : []),
          findings: detector.findingsOf(text, scan, { adHoc, explain }),
          coverage: coverageOf(text, scan),
        };
      },
    });
    const { explain } = options;
    return { ...bodyFor({ explain }), ...callVariants(detector, explain, bodyFor) };
  },
});

/** Rejects operators that would have no effect, and numbers, which only a vault keeps the same through a conversation. */
function checkOperators({
  redact,
  operators,
}: {
  redact: boolean;
  operators: Readonly<Record<string, Operator>>;
}): void {
  const message = `must not contain ${NUMBER}, because this scanner fills no vault`;
  const issues = Object.entries(operators).flatMap(([type, operator]) =>
    isNumbered(operator) ? [{ path: `operators.${type}.newValue`, message }] : [],
  );
  if (!redact && Object.keys(operators).length > 0) issues.push({ path: "operators", message: "needs redact: true" });
  if (issues.length > 0) throw new GuardValidationError(issues);
}

/** Returns edits that replace each finding by the result of its operator, which is its type by default. */
function replacements(
  text: string,
  { findings }: PiiScan,
  operators: Operators,
  { signal }: Abortable,
): Promise<Edit[]> {
  const replacement = ({ start, end, entity }: PiiFinding) =>
    operators.replacement(entity, text.slice(start, end)) ?? `<${entity}>`;
  return editsInSlices(text, findings, replacement, new TimeSlice(signal));
}
