import { domainToASCII } from "node:url";
import { z } from "zod";
import { addon, native } from "../native.ts";
import { withoutInfluence } from "../support/options.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { urlsOf } from "../text/urls.ts";
import { defineScanner } from "./define-scanner.ts";
import {
  classifierOption,
  classifierOptions,
  linearModelDifference,
  thresholdDifference,
} from "./parts/model-options.ts";
import { type Classifications, pieceClassifier } from "./parts/piece-classifier.ts";
import { pieceScanner } from "./parts/piece-scanner.ts";
import { reviewOptions, thresholdOption } from "./parts/threshold.ts";

const BENIGN = "benign";

/**
 * The probability that a name which looks like another one is malicious. It is chosen, not measured: nobody has a good reason to own such a
 * name, and browsers show it in punycode. It is above every threshold but 1.
 */
const HOMOGRAPH_SCORE = 0.99;

/** The results of the addon for URLs that the model need not read. */
const HARMLESS = 0;
const HOMOGRAPH = 1;
/** How many URLs the addon reads at once, because it reads them on the event loop. */
const PORTION = 1000;

const domain = z
  .string()
  .refine(
    (name) => /^[^\s/:@?#]+$|^\[.*\]$/.test(name) && domainToASCII(name) !== "",
    "expected the name of a host, such as example.com",
  );

export const MaliciousURLs = defineScanner({
  type: "MaliciousURLs",
  summary: "Blocks texts with URLs that look like phishing, malware or defaced sites.",
  description:
    "URLs are scored by their spelling and never fetched. Defanged URLs (`hxxp`, `[.]`) are read as the URLs that they stand for.\n\n" +
    "Hosts of the local machine or network (loopback and private addresses, names of a single label, names such as `x.local`) never " +
    "fail, and neither does a public IP address without a path. The model does not know international names: such a name counts only if " +
    "it spells a brand or a word of phishing without its accents, and otherwise the rest of the URL counts. A name that looks " +
    "like another one fails, such as `paypal.com` with a Cyrillic `а`.\n\n" +
    "Pages of about 3,300 well-known sites pass: banks, media, shops and vendors of more than 50 countries, and sites of authorities and schools (`gov`, `ac.uk`). The list was written " +
    "for guard and has its licence. Pages that visitors publish there (`sites.google.com`), links that contain the address of another site, " +
    "other ports and folders of hacked sites are judged. On platforms where everybody publishes (`x.vercel.app`), a name without a brand or a " +
    "word of phishing counts as an ordinary name, if the path has no program, query, brand or such a word either.",
  sides: { input: {}, output: {} },
  options: () => ({
    threshold: thresholdOption(
      0.5,
      "A text fails when the probability that one of its URLs is malicious is above this.",
    ),
    ...reviewOptions,
    // Allowed hosts do not change the probabilities of the others.
    allowedDomains: withoutInfluence(
      z
        .array(domain)
        .default([])
        .describe("Hosts that never fail, with all hosts below them: example.com allows www.example.com too."),
    ),
    model: classifierOption("embedded:malicious-urls", `URLs, with the label ${BENIGN}`),
    ...classifierOptions,
  }),
  differences: [
    linearModelDifference,
    thresholdDifference,
    {
      text: "Hosts of the local network, well-known sites, public IP addresses without a path and ordinary international names never fail. A name that looks like another one fails.",
    },
  ],
  findings: [{ type: "url", label: "What the URL looks like: `phishing`, `malware` or `homograph`." }],
  examples: {
    passes: [
      "See https://en.wikipedia.org/wiki/Paris for more.",
      "There is no link in this text.",
      "It runs at http://localhost:3000 and on https://www.müller.de/.",
    ],
    fails: [
      "Verify your account at http://paypal.com.secure-login.account-update.ru/webscr?cmd=login",
      "Sign in at https://p\u0430ypal.com/",
    ],
  },
  create(build) {
    const model = pieceClassifier(build, { head: "urls", required: [BENIGN] });
    const allowed = build.options.allowedDomains.map((name) => domainToASCII(name));
    const isAllowed = (url: string) => {
      if (allowed.length === 0 || !URL.canParse(url)) return false;
      const host = new URL(url).hostname;
      return allowed.some((name) => host === name || host.endsWith(`.${name}`));
    };
    return pieceScanner(build, model, {
      finding: "url",
      streaming: { reads: "words", overlap: 0 },
      async score(text, context) {
        const found = await urlsOf(text, context);
        const urls = found.filter(({ url }) => !isAllowed(url));
        if (urls.length === 0) return [];
        const slice = new TimeSlice(context.signal);
        const classes: number[] = [];
        const unknown: string[] = [];
        for (let at = 0; at < urls.length; at += PORTION) {
          if (at > 0) await slice.next();
          const portion = urls.slice(at, at + PORTION).map(({ url }) => url);
          const triaged = await native(() => addon.triageUrls(portion), context);
          classes.push(...triaged.classes);
          unknown.push(...triaged.modelTexts);
        }
        const none = { labels: [], probabilities: [] };
        const classified = unknown.length > 0 ? await model.classify(unknown, context) : none;
        let next = 0;
        return urls.flatMap(({ start, end }, index) => {
          const urlClass = classes[index];
          if (urlClass === HARMLESS) return [];
          if (urlClass === HOMOGRAPH) return [{ start, end, score: HOMOGRAPH_SCORE, label: "homograph" }];
          return [{ start, end, ...maliceOf(classified, next++) }];
        });
      },
    });

    /** Returns the probability that a URL is not benign, and the likeliest label other than benign. */
    function maliceOf({ labels, probabilities }: Classifications, index: number): { score: number; label: string } {
      let [score, best, label] = [0, -1, ""];
      for (const [at, probability] of (probabilities[index] ?? []).entries()) {
        const name = labels[at] as string;
        if (name.toLowerCase() === BENIGN) continue;
        score += probability;
        if (probability > best) [best, label] = [probability, name];
      }
      return { score: Math.min(1, score), label };
    }
  },
});
