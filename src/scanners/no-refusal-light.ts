import { addon } from "../native.ts";
import { passed } from "../scan/scanner.ts";
import { defineScanner } from "./definition.ts";
import { ruleCheck, ruleVerdict } from "./parts/rule-scanner.ts";

export const NoRefusalLight = defineScanner({
  type: "NoRefusalLight",
  summary: "Fails outputs in which the model refuses to answer, by phrases.",
  description:
    'llm-guard 0.3.16 looks for 28 substrings, among them "Sorry", "As an", "Hello!" and "OpenAI", which ordinary answers hold too, ' +
    "and knows the typewriter's apostrophe only. The phrases here say that something will not be done. They find about as many " +
    "refusals, and take a fifth as many ordinary answers for one. A refusal without such a phrase is found by NoRefusal only.",
  sides: { output: {} },
  options: () => ({}),
  differences: [
    {
      text: "It knows phrases that say that something will not be done. An answer that only apologizes or greets is no refusal.",
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
