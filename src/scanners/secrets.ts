import { z } from "zod";
import { addon, built, mapAnswer, native, type SecretRules } from "../native.ts";
import { type Finding, passed, type ScanContext, type Verdict, wholeText } from "../scan/scanner.ts";
import { FAILED } from "../scan/score.ts";
import { ruleOptions } from "./common-options.ts";
import { defineScanner } from "./define.ts";
import { beforeEdits, type Edit, edited, type NamedString, namedStrings } from "./parts/named-strings.ts";
import { unclosedSecret } from "./parts/open-spans.ts";

type SecretOptions = ConstructorParameters<typeof SecretRules>[0];
type SecretMatch = Extract<Awaited<ReturnType<SecretRules["scan"]>>, { secrets: unknown }>["secrets"][number];

const rule = z.strictObject({
  id: z.string().min(1).describe("Name of the rule in findings."),
  pattern: z
    .string()
    .min(1)
    .describe("Linear regular expression (syntax of Rust's regex crate); a group (?P<secret>...) is what is secret."),
  service: z.string().min(1).optional().describe("Service that findings name; such a rule wins over general ones."),
  keywords: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "Texts, of which one must be within 1 KiB of the match; ASCII letters in any case. Without them all of a text is searched.",
    ),
  entropy: z.number().min(0).max(8).optional().describe("Least Shannon entropy of the secret, in bits per character."),
});

export const Secrets = defineScanner({
  type: "Secrets",
  summary:
    "Finds credentials: tokens of more than 1,400 services, private keys, passwords in URLs, connection strings, " +
    "configuration and prose, and random strings in quotes.",
  description:
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder that is meant
    "Placeholders such as `<your-key>`, `${TOKEN}` or `AKIA...EXAMPLE` are left alone. llm-guard 0.3.16 replaces the first occurrence " +
    "of a secret only; here every occurrence is replaced.",
  sides: { input: {}, output: {} },
  options: () => ({
    ...ruleOptions,
    redactMode: z
      .enum(["all", "partial", "hash"])
      .default("all")
      .describe("all: ******. partial: first two and last two characters, as in ab..yz. hash: MD5 of the secret."),
    rules: z.array(rule).default([]).describe("Rules of your own, which win over the embedded ones."),
    disabledRules: z.array(z.string().min(1)).default([]).describe("Ids of embedded rules that are not to be applied."),
    allow: z.array(z.string().min(1)).default([]).describe("Regular expressions of values that are no secrets."),
  }),
  differences: [
    {
      text: "Every occurrence of a secret is replaced, not only the first one, and a secret that two rules find is replaced once: what is left in the text would be sent on.",
    },
  ],
  // In a conversation, the keys of JSON tell what its strings are, and they are no part of the text.
  conversation: { sources: ["user", "tool_call"], dependsOnOthers: true },
  findings: [
    { type: "secret", label: "The rule that found it; the service stands in `service`, where the rule knows one." },
  ],
  examples: {
    passes: ["Set AWS_ACCESS_KEY_ID to <your-key> first.", "The password must have at least 12 characters."],
    fails: [{ text: 'password = "Tr0ub4dor&3x9"', sanitized: 'password = "******"' }],
  },
  create({ options: { rules, disabledRules, allow, redactMode, deobfuscate } }) {
    const options = { rules, disabledRules, allow } as SecretOptions;
    const inOptions = (path: string) => path.replace("disabled_rules", "disabledRules");
    const compiled = built(() => new addon.SecretRules(options), inOptions);
    const read = (text: string, context: ScanContext) =>
      native(() => compiled.scan(text, redactMode, deobfuscate), context);
    const findingOf = (text: string, start: number, end: number, found: SecretMatch): Finding => ({
      start,
      end,
      type: "secret",
      text: text.slice(start, end),
      // A token with a wrong checksum cannot be a live token, so its score is lower.
      score: found.sound ? 1 : 0.5,
      label: found.rule,
      ...(found.service == null ? {} : { service: found.service }),
      ...(found.view == null ? {} : { view: found.view }),
    });
    /** What is found in strings behind their keys, and the strings without it. */
    const readNamed = async (text: string, named: readonly NamedString[], context: ScanContext) => {
      const edits: Edit[] = [];
      const findings: Finding[] = [];
      for (const { value, start, line, at } of named) {
        const { secrets, redacted } = await read(line, context);
        if (redacted == null) continue;
        edits.push({ start, end: start + value.length, replacement: redacted.slice(at, -1) });
        const within = (place: number) => start + Math.min(Math.max(place - at, 0), value.length);
        findings.push(...secrets.map((found) => findingOf(text, within(found.start), within(found.end), found)));
      }
      return { edits, findings };
    };
    /** The verdict on a text in whose named strings something may have been found. */
    const readRest = (
      text: string,
      { edits, findings }: { edits: Edit[]; findings: Finding[] },
      context: ScanContext,
    ) => {
      const left = edited(text, edits);
      return mapAnswer(read(left, context), ({ secrets, rest, redacted }): Verdict => {
        if (redacted == null && edits.length === 0) return passed(text);
        for (const found of secrets) {
          const [start, end] = [beforeEdits(found.start, edits), beforeEdits(found.end, edits)];
          findings.push(findingOf(text, start, end, found));
        }
        return {
          isValid: false,
          score: FAILED,
          sanitized: redacted ?? left,
          findings: findings.sort((a, b) => a.start - b.start),
          coverage: wholeText(text, 1, (rest?.length ?? 0) / 2),
        };
      });
    };
    return {
      sanitizes: true,
      streaming: { reads: "spans", span: 160, repeats: true, openFrom: unclosedSecret, longSpans: "block" },
      check(text, context) {
        const { current } = context.conversation ?? {};
        const named = current && current.source !== "user" ? namedStrings(text, current) : [];
        if (named.length === 0) return readRest(text, { edits: [], findings: [] }, context);
        return readNamed(text, named, context).then((found) => readRest(text, found, context));
      },
    };
  },
});
