// Replaces personal data before a model sees it, and restores it in the model's answer.
//   node examples/vault-round-trip.mjs
import { scanOutput, scanPrompt, Vault } from "guard-scan";
import { Anonymize } from "guard-scan/input-scanners";
import { Deanonymize } from "guard-scan/output-scanners";

// Without a model for names, the scan takes microseconds and finds only the names in this list.
const anonymize = new Anonymize({ recognizerConf: [], hiddenNames: ["Ann Lee"] });
const deanonymize = new Deanonymize();

/** A stand-in for a model call. */
const model = async (prompt) => `I have sent the invoice to ${/\[REDACTED_EMAIL_ADDRESS_\d+\]/.exec(prompt)?.[0]}.`;

// Use one vault per conversation.
const vault = new Vault();
const prompt = "Send the invoice to Ann Lee, ann@example.com, card 4111 1111 1111 1111.";

const asked = await scanPrompt([anonymize], prompt, { vault });
console.log(asked.sanitizedPrompt);

const answer = await model(asked.sanitizedPrompt);
console.log(answer);

const answered = await scanOutput([deanonymize], asked.sanitizedPrompt, answer, { vault });
console.log(answered.sanitizedOutput);

// Prints:
//   Send the invoice to [REDACTED_CUSTOM_1], [REDACTED_EMAIL_ADDRESS_1], card [REDACTED_CREDIT_CARD_1].
//   I have sent the invoice to [REDACTED_EMAIL_ADDRESS_1].
//   I have sent the invoice to ann@example.com.
