import { domainToASCII } from "node:url";
import { z } from "zod";
import { addon, native } from "../native.ts";
import { notASetting } from "../support/options.ts";
import { TimeSlice } from "../support/time-slice.ts";
import { urlsOf } from "../text/urls.ts";
import { defineScanner } from "./definition.ts";
import { classifierOption, classifierOptions, ofLinearModel, ofThreshold } from "./parts/model-options.ts";
import { type Classified, pieceClassifier } from "./parts/piece-classifier.ts";
import { pieceScanner } from "./parts/piece-scanner.ts";
import { thresholdOption } from "./parts/threshold.ts";

const BENIGN = "benign";

/**
 * The probability that a name which looks like another one is malicious. No figure is behind it: nobody has a good reason to own such
 * a name, and browsers show none in letters. It is above every threshold but 1.
 */
const HOMOGRAPH = 0.99;

/** What the addon says of URLs that no model has to judge. */
const HARMLESS = 0;
const LOOKS_LIKE_ANOTHER = 1;
/** So many URLs cross to the addon at once, which reads them on the event loop. */
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
    "URLs are judged by how they are written, and never fetched; disguised ones (`hxxp`, `[.]`) are judged as what they stand for.\n\n" +
    "Hosts of the own machine or network (loopback and private addresses, names of a single label, names such as `x.local`) never " +
    "fail, nor does a public address with nothing behind it. The model knows no international names: such a name is judged by the brands " +
    "and the words of phishing that it spells without its accents, and otherwise only the rest of the URL counts. A name that looks " +
    "like another one fails, such as `paypal.com` with a Cyrillic `а`.",
  sides: { input: {}, output: {} },
  options: () => ({
    threshold: thresholdOption(
      0.5,
      "A text fails when the probability that one of its URLs is malicious is above this.",
    ),
    // Hosts that are not judged leave the probabilities of the others as they are.
    allowedDomains: notASetting(
      z
        .array(domain)
        .default([])
        .describe("Hosts that never fail, with all hosts below them: example.com allows www.example.com too."),
    ),
    model: classifierOption("embedded:malicious-urls", `URLs, with the label ${BENIGN}`),
    ...classifierOptions,
  }),
  differences: [
    ofLinearModel,
    ofThreshold,
    {
      text: "Hosts of the own network, public addresses alone and ordinary international names never fail; a name that only looks like another one does.",
    },
  ],
  findings: [{ type: "url", label: "What the URL looks like: `phishing`, `malware`, `defacement` or `homograph`." }],
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
      async judge(text, { signal, answers }) {
        const found = await urlsOf(text, { answers, signal });
        const urls = found.filter(({ url }) => !isAllowed(url));
        if (urls.length === 0) return [];
        const slice = new TimeSlice(signal);
        const standings: number[] = [];
        const judged: string[] = [];
        for (let at = 0; at < urls.length; at += PORTION) {
          if (at > 0) await slice.next();
          const portion = urls.slice(at, at + PORTION).map(({ url }) => url);
          const known = await native(() => addon.urlStandings(portion), { signal });
          standings.push(...known.standings);
          judged.push(...known.judgedAs);
        }
        const asking = { ...(signal ? { signal } : {}), ...(answers ? { answers } : {}) };
        const classified = judged.length > 0 ? await model.classify(judged, asking) : { labels: [], probabilities: [] };
        let next = 0;
        return urls.flatMap(({ start, end }, index) => {
          const standing = standings[index];
          if (standing === HARMLESS) return [];
          if (standing === LOOKS_LIKE_ANOTHER) return [{ start, end, score: HOMOGRAPH, label: "homograph" }];
          return [{ start, end, ...judge(classified, next++) }];
        });
      },
    });

    /** Returns the probability that a URL is not benign, and the likeliest label other than benign. */
    function judge({ labels, probabilities }: Classified, index: number): { score: number; label: string } {
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
