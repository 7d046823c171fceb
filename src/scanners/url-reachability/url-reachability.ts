import pLimit from "p-limit";
import { z } from "zod";
import { type Finding, passed } from "../../scan/scanner.ts";
import { FAILED, PASSED } from "../../scan/score.ts";
import { type FoundUrl, urlsOf } from "../../text/urls.ts";
import { defineScanner } from "../definition.ts";
import { parseNetwork } from "./public-addresses.ts";
import { UrlProber } from "./url-prober.ts";

/** How many URLs are requested at the same time. */
const CONCURRENCY = 8;

export const URLReachability = defineScanner({
  type: "URLReachability",
  summary: "Fails outputs with URLs that can not be reached.",
  description: `Whoever writes the text chooses what this scanner connects to, so it runs only where it is configured, and only reaches public
hosts: names are resolved first, every address has to be public, and the connection goes to the very addresses that were checked,
for each redirect again. It sends GET requests without credentials, reads the status and nothing of the body, and uses no proxy.
What is refused or left out fails the text.

llm-guard 0.3.16 connects to any address, reads whole bodies and follows 30 redirects. HEAD is not tried first: servers answer it
differently from GET, and this costs no more.`,
  volatile: true,
  sides: { output: {} },
  options: () => ({
    successStatusCodes: z
      .array(z.number().int().min(100).max(599))
      .min(1)
      .default([200, 201, 202])
      .describe("Statuses that count as reached."),
    timeout: z
      .number()
      .positive()
      .max(300)
      .default(5)
      .describe("Seconds for one URL, with all of its redirects and look-ups."),
    maxRedirects: z.number().int().min(0).max(30).default(5).describe("The most redirects that are followed."),
    maxUrls: z
      .number()
      .int()
      .min(1)
      .default(20)
      .describe("The most URLs of a text that are asked for; with more it fails."),
    allowedPorts: z
      .array(z.number().int().min(1).max(65535))
      .default([80, 443])
      .describe("Ports that may be connected to."),
    allowedNetworks: z
      .array(
        z.string().refine((text) => parseNetwork(text) !== undefined, "expected an IP address or network in CIDR form"),
      )
      .default([])
      .describe("Addresses and networks that may be reached although they are not public, such as 10.1.0.0/16."),
    dnsServers: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe("DNS servers to ask, as address or address:port. Default: those of the system."),
  }),
  differences: [
    {
      text: "Only public hosts are asked, without credentials, and what is refused fails the text. llm-guard connects to any address, also inside your network.",
    },
  ],
  findings: [{ type: "url", label: "Why the URL counts as not reached." }],
  examples: {
    passes: ["There is no link in this text."],
    fails: ["The report is at http://127.0.0.1/report.pdf"],
  },
  create({ options }) {
    const reacher = new UrlProber(options);
    const verdictOn = async (text: string, found: readonly FoundUrl[], signal: AbortSignal | undefined) => {
      const urls = [...new Set(found.map(({ url }) => url))];
      const asked = urls.slice(0, options.maxUrls);
      const limit = pLimit(CONCURRENCY);
      const problems = new Map<string, string>(
        urls.slice(asked.length).map((url) => [url, `not checked: more than ${asked.length} URLs`]),
      );
      await Promise.all(
        asked.map((url) =>
          limit(async () => {
            const problem = await reacher.problem(url, signal);
            if (problem !== undefined) problems.set(url, problem);
          }),
        ),
      );
      const findings = found.flatMap(({ start, end, text, url }: FoundUrl): Finding[] => {
        const label = problems.get(url);
        return label === undefined ? [] : [{ start, end, type: "url", text, score: 1, label }];
      });
      const isValid = findings.length === 0;
      const skipped = new Set(urls.slice(asked.length));
      const skippedChars = found.reduce((sum, { start, end, url }) => sum + (skipped.has(url) ? end - start : 0), 0);
      const coverage = {
        chars: text.length,
        scannedChars: Math.max(0, text.length - skippedChars),
        truncated: skippedChars > 0,
        windows: 1,
      };
      return { isValid, score: isValid ? PASSED : FAILED, findings, coverage };
    };
    return {
      check: async (text, context) => {
        const found = await urlsOf(text, context);
        return found.length === 0 ? passed(text) : verdictOn(text, found, context.signal);
      },
    };
  },
});
