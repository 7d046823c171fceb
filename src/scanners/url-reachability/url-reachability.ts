import pLimit from "p-limit";
import { z } from "zod";
import type { Abortable } from "../../native.ts";
import { type Finding, passed } from "../../scan/scanner.ts";
import { FAILED, PASSED } from "../../scan/score.ts";
import { type FoundUrl, urlsOf } from "../../text/urls.ts";
import { defineScanner } from "../define-scanner.ts";
import { parseNetwork } from "./public-addresses.ts";
import { UrlProber } from "./url-prober.ts";

/** How many URLs are requested at the same time. */
const CONCURRENCY = 8;

export const URLReachability = defineScanner({
  type: "URLReachability",
  summary: "Fails outputs with URLs that cannot be reached.",
  description: `The author of the text chooses the hosts that this scanner connects to. It therefore runs only if it is configured, and connects
to public hosts only: names are resolved first, every address must be public, and the connection uses the checked addresses, also for
each redirect. It sends GET requests without credentials, reads the status but no body, and uses no proxy. A URL that is refused or
skipped makes the text fail.

llm-guard 0.3.16 connects to any address, reads whole bodies and follows 30 redirects. HEAD requests are not used, because servers
answer them differently from GET.`,
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
      .describe("Seconds for one URL, including redirects and DNS lookups."),
    maxRedirects: z.number().int().min(0).max(30).default(5).describe("The most redirects that are followed."),
    maxUrls: z.number().int().min(1).default(20).describe("The most URLs of a text. A text with more URLs fails."),
    allowedPorts: z
      .array(z.number().int().min(1).max(65535))
      .default([80, 443])
      .describe("Ports that the scanner may connect to."),
    allowedNetworks: z
      .array(
        z.string().refine((text) => parseNetwork(text) !== undefined, "expected an IP address or network in CIDR form"),
      )
      .default([])
      .describe("Addresses and networks that are allowed although they are not public, such as 10.1.0.0/16."),
    dnsServers: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe("DNS servers, as address or address:port. Default: the servers of the system."),
  }),
  differences: [
    {
      text: "The scanner connects to public hosts only, without credentials, and a refused URL fails the text. llm-guard connects to any address, including those of your network.",
    },
  ],
  findings: [{ type: "url", label: "Why the URL was not reached." }],
  examples: {
    passes: ["There is no link in this text."],
    fails: ["The report is at http://127.0.0.1/report.pdf"],
  },
  create({ options }) {
    const prober = new UrlProber(options);
    const verdictOn = async (text: string, found: readonly FoundUrl[], context: Abortable) => {
      const urls = [...new Set(found.map(({ url }) => url))];
      const probed = urls.slice(0, options.maxUrls);
      const limit = pLimit(CONCURRENCY);
      const problems = new Map<string, string>(
        urls.slice(probed.length).map((url) => [url, `not checked: more than ${probed.length} URLs`]),
      );
      await Promise.all(
        probed.map((url) =>
          limit(async () => {
            const problem = await prober.findProblem(url, context);
            if (problem !== undefined) problems.set(url, problem);
          }),
        ),
      );
      const findings = found.flatMap(({ start, end, text, url }: FoundUrl): Finding[] => {
        const label = problems.get(url);
        return label === undefined ? [] : [{ start, end, type: "url", text, score: 1, label }];
      });
      const isValid = findings.length === 0;
      const skipped = new Set(urls.slice(probed.length));
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
        return found.length === 0 ? passed(text) : verdictOn(text, found, context);
      },
    };
  },
});
