import { addon } from "../../native.ts";
import { passed, type Verdict } from "../../scan/scanner.ts";
import { ruleCheck, ruleVerdict } from "./rule-scanner.ts";

/** Creates a function that fails a text with a phrase by which an assistant refuses. */
export function refusalPhrases(): (text: string, context: { signal?: AbortSignal | undefined }) => Promise<Verdict> {
  return ruleCheck(new addon.Refusals(), (text, found) =>
    found === null ? passed(text) : ruleVerdict(text, found, { type: "refusal", labels: ["refusal"], redacts: false }),
  );
}
