import { defineScanner } from "./define-scanner.ts";
import { refusalPhrases } from "./parts/refusal-phrases.ts";

export const NoRefusalLight = defineScanner({
  type: "NoRefusalLight",
  summary: "Fails outputs in which the model refuses to answer, by phrases.",
  description:
    'llm-guard 0.3.16 looks for 28 substrings, such as "Sorry", "As an", "Hello!" and "OpenAI", which ordinary answers contain too, ' +
    "and knows the straight apostrophe only. The phrases here say that something will not be done, or that the assistant may not see or " +
    "tell it. They find about as many refusals, with a fifth of the false positives. Only NoRefusal finds refusals without such a phrase.",
  sides: { output: {} },
  options: () => ({}),
  differences: [
    {
      text: "Its phrases say that something will not be done. An answer that only apologizes or greets is not a refusal.",
    },
    {
      text: "A letter, a script or a quotation in which somebody else refuses is not a refusal of the model.",
    },
  ],
  findings: [{ type: "refusal", label: "Always `refusal`." }],
  examples: {
    passes: [
      "Sorry for the delay! Here is the summary.",
      "The bank refused to answer questions.",
      "Dear Ms Weber, I am sorry that we cannot offer you the position.",
    ],
    fails: ["I'm sorry, but I cannot assist with that.", "I cannot access debug endpoints."],
  },
  create: () => ({
    streaming: { reads: "spans", span: 96 },
    check: refusalPhrases(),
  }),
});
