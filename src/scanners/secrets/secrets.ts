import { z } from "zod";
import { addon, buildNative, native, type SecretRules } from "../../native.ts";
import { composeEdits, type Edit, EditedText } from "../../scan/edits.ts";
import {
  type Explanation,
  type Finding,
  passed,
  type ScanContext,
  type Verdict,
  wholeText,
} from "../../scan/scanner.ts";
import { FAILED } from "../../scan/score.ts";
import { JsonNumbers } from "../../text/json-numbers.ts";
import { mapRows } from "../../text/rows.ts";
import type { Span } from "../../text/span.ts";
import { explainOption, ruleOptions } from "../common-options.ts";
import { defineScanner } from "../define-scanner.ts";
import { unclosedSecret } from "../parts/open-spans.ts";
import { type CredentialField, credentialFields } from "./credential-fields.ts";

type SecretOptions = ConstructorParameters<typeof SecretRules>[0];
type RedactMode = Parameters<SecretRules["scan"]>[1];
type SecretScan = Awaited<ReturnType<SecretRules["scan"]>>;
type SecretMatch = SecretScan["secrets"][number];

const rule = z.strictObject({
  id: z.string().min(1).describe("Name of the rule in findings."),
  pattern: z
    .string()
    .min(1)
    .describe("Linear regular expression (syntax of Rust's regex crate). A group (?P<secret>...) marks the secret."),
  service: z
    .string()
    .min(1)
    .optional()
    .describe("Service named in findings. A rule with a service takes precedence over general rules."),
  keywords: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "Texts, of which one must be within 1 KiB of the match, with ASCII letters in any case. Without keywords, the whole text is searched.",
    ),
  entropy: z
    .number()
    .min(0)
    .max(8)
    .optional()
    .describe("The least Shannon entropy of the secret, in bits per character."),
});

export const Secrets = defineScanner({
  type: "Secrets",
  summary:
    "Finds credentials: tokens of more than 1,400 services, private keys, passwords in URLs, connection strings, " +
    "configuration and prose, and random strings in quotes.",
  description:
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder that is meant
    "Placeholders such as `<your-key>`, `${TOKEN}` or `AKIA...EXAMPLE` are ignored. llm-guard 0.3.16 replaces only the first occurrence " +
    "of a secret. Here every occurrence is replaced.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...ruleOptions,
    ...explainOption,
    redactMode: z
      .enum(["all", "partial", "hash"])
      .default("all")
      .describe(
        "all: ******. partial: the first two and the last two characters, such as ab..yz. hash: the MD5 hash of the secret.",
      ),
    rules: z.array(rule).default([]).describe("Your own rules, which take precedence over the embedded ones."),
    disabledRules: z.array(z.string().min(1)).default([]).describe("Ids of embedded rules that are not applied."),
    allow: z.array(z.string().min(1)).default([]).describe("Regular expressions of values that are not secrets."),
  }),
  differences: [
    {
      text: "Every occurrence of a secret is replaced, not only the first one, because the rest of the text is sent on. A secret that two rules find is replaced once.",
    },
  ],
  // In a conversation, the keys of JSON strings identify credentials, and the keys are not part of the text.
  conversation: { sources: ["user", "tool_call"], dependsOnOthers: true },
  findings: [{ type: "secret", label: "The rule that found it. `service` names the service, if the rule has one." }],
  examples: {
    passes: ["Set AWS_ACCESS_KEY_ID to <your-key> first.", "The password must have at least 12 characters."],
    fails: [{ text: 'password = "Tr0ub4dor&3x9"', sanitized: 'password = "******"' }],
  },
  create({ options: { rules, disabledRules, allow, redactMode, deobfuscate, explain } }) {
    const options = { rules, disabledRules, allow } as SecretOptions;
    const inOptions = (path: string) => path.replace("disabled_rules", "disabledRules");
    const compiled = buildNative(() => new addon.SecretRules(options), inOptions);
    const read = (text: string, context: ScanContext) =>
      native(() => compiled.scan(text, redactMode, deobfuscate), context);
    /** Scans strings together with their keys. */
    const scanFields = async (
      text: string,
      fields: readonly CredentialField[],
      context: ScanContext,
    ): Promise<FieldScan> => {
      const found: FieldScan = { edits: [], findings: [] };
      for (const { value, start, line, at } of fields) {
        const scan = await read(line, context);
        const inText = (offset: number) => start + Math.min(Math.max(offset - at, 0), value.length);
        const moved = (span: Span) => ({ start: inText(span.start), end: inText(span.end) });
        for (const edit of secretEdits(line, scan, redactMode)) found.edits.push({ ...edit, ...moved(edit) });
        for (const secret of scan.secrets) found.findings.push(findingOf(text, moved(secret), secret, explain));
      }
      return found;
    };
    /** Scans a text whose credential fields were scanned before. */
    const scanText = async (text: string, { edits, findings }: FieldScan, context: ScanContext): Promise<Verdict> => {
      const edited = new EditedText(text);
      edited.apply(edits);
      const scan = await read(edited.text, context);
      const added = secretEdits(edited.text, scan, redactMode);
      if (added.length === 0 && edits.length === 0) return passed(text);
      const spans = edited.originalSpans(scan.secrets);
      for (const [index, secret] of scan.secrets.entries()) {
        const span = spans[index] as Span;
        // The hash of a secret looks like a secret.
        const isReplacement = edits.some(({ start, end }) => start <= span.start && span.end <= end);
        if (!isReplacement) findings.push(findingOf(text, span, secret, explain));
      }
      return {
        isValid: false,
        score: FAILED,
        edits: composeEdits(edits, added, edited.text),
        findings: findings.sort((a, b) => a.start - b.start),
        coverage: wholeText(text, 1, (scan.rest?.length ?? 0) / 2),
      };
    };
    return {
      sanitizes: true,
      streaming: { reads: "spans", span: 160, repeats: true, openFrom: unclosedSecret, longSpans: "block" },
      async check(text, context) {
        const { current } = context.conversation ?? {};
        const fields = current && current.source !== "user" ? credentialFields(text, current) : [];
        return scanText(text, await scanFields(text, fields, context), context);
      },
    };
  },
});

/** The edits and findings of a text, in ascending order. */
interface FieldScan {
  edits: Edit[];
  findings: Finding[];
}

function findingOf(text: string, { start, end }: Span, secret: SecretMatch, explain: boolean): Finding {
  return {
    ...{ start, end, type: "secret", text: text.slice(start, end) },
    // A token with a wrong checksum cannot be a live token, so its score is lower.
    score: secret.isDoubtful ? 0.5 : 1,
    label: secret.rule,
    ...(secret.service == null ? {} : { service: secret.service }),
    ...(secret.view == null ? {} : { view: secret.view }),
    ...(explain ? { explanation: explanationOf(secret) } : {}),
  };
}

function explanationOf({ rule, check, isDoubtful }: SecretMatch): Explanation {
  return { by: "rule", id: rule, ...(check == null ? {} : { check: { id: check, passed: !isDoubtful } }) };
}

/** Returns the edits that turn a text into the redacted text of the addon. */
function secretEdits(text: string, { secrets, rest, redacted }: SecretScan, mode: RedactMode): Edit[] {
  if (redacted == null) return [];
  const others = mapRows(rest ?? [], 2, (column): Span => ({ start: column(0), end: column(1) }));
  const numbers = new JsonNumbers(text);
  let shift = 0;
  return [...secrets, ...others].map(({ start, end }) => {
    const length = replacementLength(text.slice(start, end), mode);
    const replacement = redacted.slice(start + shift, start + shift + length);
    shift += length - (end - start);
    return { start, end, replacement: numbers.quoted({ start, end }, replacement) };
  });
}

/** Returns the length of the text that replaces a secret, in UTF-16 code units. */
function replacementLength(secret: string, mode: RedactMode): number {
  if (mode === "hash") return 32;
  const characters = [...secret];
  if (mode === "all" || characters.length <= 5) return "******".length;
  return [...characters.slice(0, 2), "..", ...characters.slice(-2)].join("").length;
}
