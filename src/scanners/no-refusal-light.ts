import { addon } from "../native.ts";
import { passed } from "../scan/scanner.ts";
import { defineScanner } from "./define-scanner.ts";
import { ruleCheck, ruleVerdict } from "./parts/rule-scanner.ts";

export const NoRefusalLight = defineScanner({
  type: "NoRefusalLight",
  summary: "Fails outputs in which the model refuses to answer, by phrases.",
  description:
    'llm-guard 0.3.16 looks for 28 substrings, such as "Sorry", "As an", "Hello!" and "OpenAI", which ordinary answers contain too, ' +
    "and knows the straight apostrophe only. The phrases here say that something will not be done. They find about as many refusals, with " +
    "a fifth of the false positives. Only NoRefusal finds refusals without such a phrase.",
  sides: { output: {} },
  options: () => ({}),
  differences: [
    {
      text: "Its phrases say that something will not be done. An answer that only apologizes or greets is not a refusal.",
    },
  ],
  findings: [{ type: "refusal", label: "Always `refusal`." }],
  examples: {
    passes: ["Sorry for the delay! Here is the summary.", "The bank refused to answer questions."],
    fails: ["I'm sorry, but I cannot assist with that."],
  },
  create: () => ({
    streaming: { reads: "spans", span: 96 },
    check: ruleCheck(new addon.Refusals(), (text, found) =>
      found === null
        ? passed(text)
        : ruleVerdict(text, found, { type: "refusal", labels: ["refusal"], redacts: false }),
    ),
  }),
});
