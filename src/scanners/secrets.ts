import { z } from "zod";
import { addon, built, native, type SecretRules } from "../native.ts";
import { type Finding, passed, wholeText } from "../scanner.ts";
import { ruleOptions } from "../validation/options.ts";
import { defineScanner } from "./define.ts";
import { unclosedSecret } from "./parts/open-spans.ts";
import { FAILED } from "./score.ts";

type SecretOptions = ConstructorParameters<typeof SecretRules>[0];

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
    "Finds credentials: tokens of more than nine hundred services, private keys, passwords in URLs, connection strings, " +
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
  conversation: { sources: ["user", "tool_call"] },
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
    return {
      sanitizes: true,
      streaming: { reads: "spans", span: 160, repeats: true, openFrom: unclosedSecret, longSpans: "block" },
      async check(text, { signal }) {
        const { secrets, rest, redacted } = await native(() => compiled.scan(text, redactMode, deobfuscate), signal);
        if (redacted == null) return passed(text);
        const findings = secrets.map(
          ({ start, end, rule, service, sound, view }): Finding => ({
            start,
            end,
            type: "secret",
            text: text.slice(start, end),
            // A token with a wrong checksum cannot be a live token, so its score is lower.
            score: sound ? 1 : 0.5,
            label: rule,
            ...(service == null ? {} : { service }),
            ...(view == null ? {} : { view }),
          }),
        );
        return {
          isValid: false,
          score: FAILED,
          sanitized: redacted,
          findings,
          coverage: wholeText(text, 1, (rest?.length ?? 0) / 2),
        };
      },
    };
  },
});
