import { GuardValidationError } from "../errors.ts";
import { urlsOf } from "../text/urls.ts";
import { defineScanner } from "./define.ts";
import { linearModel, linearScanner } from "./parts/linear-scanner.ts";
import { linearModelOption, linearOptions, ofLinearModel, ofThreshold } from "./parts/model-options.ts";
import { thresholdOption } from "./parts/threshold.ts";

const BENIGN = "benign";

export const MaliciousURLs = defineScanner({
  type: "MaliciousURLs",
  summary: "Blocks texts with URLs that look like phishing, malware or defaced sites.",
  description:
    "URLs are judged by how they are written, and never fetched; disguised ones (`hxxp`, `[.]`) are judged as what they stand for.",
  sides: { input: {}, output: {} },
  options: () => ({
    threshold: thresholdOption(
      0.5,
      "A text fails when the probability that one of its URLs is malicious is above this.",
    ),
    model: linearModelOption("embedded:malicious-urls", `a linear model with the label ${BENIGN}`),
    ...linearOptions,
  }),
  differences: [ofLinearModel, ofThreshold],
  findings: [{ type: "url", label: "What the URL looks like: `phishing`, `malware` or `defacement`." }],
  examples: {
    passes: ["See https://en.wikipedia.org/wiki/Paris for more.", "There is no link in this text."],
    fails: ["Verify your account at http://paypal.com.secure-login.account-update.ru/webscr?cmd=login"],
  },
  create(build) {
    const model = linearModel(build);
    const { labels } = model.described();
    if (!labels.includes(BENIGN)) {
      const message = `the model has no label ${BENIGN}; its labels are: ${labels.join(", ")}`;
      throw new GuardValidationError([{ path: "model", message }]);
    }
    return linearScanner(build, model, {
      finding: "url",
      async judge(text, { answers }) {
        const urls = await urlsOf(text, answers);
        if (urls.length === 0) return [];
        const probabilities = await model.classify(urls.map(({ url }) => url));
        return urls.map(({ start, end }, index) => ({ start, end, ...judge(probabilities[index] as number[]) }));
      },
    });

    /** Returns the probability that a URL is not benign, and the likeliest label other than benign. */
    function judge(probabilities: readonly number[]): { score: number; label: string } {
      let [score, best, label] = [0, -1, ""];
      for (const [index, probability] of probabilities.entries()) {
        const name = labels[index] as string;
        if (name === BENIGN) continue;
        score += probability;
        if (probability > best) [best, label] = [probability, name];
      }
      return { score: Math.min(1, score), label };
    }
  },
});
