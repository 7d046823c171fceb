import { onTestFinished } from "vitest";
import { LocalGuard } from "../../src/guard/local-guard.ts";
import { Anonymize, BanSubstrings } from "../../src/scanners/generated/input-scanners.ts";
import { Deanonymize } from "../../src/scanners/generated/output-scanners.ts";
import type { ScanServiceOptions } from "../../src/service/service-types.ts";
import { serviceWith } from "./service.ts";

/** The scanners for parts of a conversation other than user messages. */
const CONVERSATION: ScanServiceOptions["conversation"] = {
  window: 3,
  scanToolMessages: true,
  risk: { enabled: false },
  scan: {
    system: ["Anonymize"],
    tool: ["Anonymize", "BanSubstrings"],
    tool_definition: ["Anonymize"],
    tool_call: ["Anonymize", "BanSubstrings"],
    assistant: ["Anonymize"],
  },
};

/**
 * Makes a guard without models. It replaces e-mail addresses by placeholders and restores them in answers. It blocks requests and tool calls
 * with the word `forbidden`, and answers with the word `leaked`.
 */
export async function exampleGuard(options: Partial<ScanServiceOptions> = {}): Promise<LocalGuard> {
  const word = (substring: string) => new BanSubstrings({ substrings: [substring], matchType: "word" });
  const { service } = await serviceWith(
    {
      input: [new Anonymize({ entityTypes: ["EMAIL_ADDRESS"], recognizerConf: [] }), word("forbidden")],
      output: [new Deanonymize(), word("leaked")],
    },
    { conversation: CONVERSATION, ...options },
  );
  const guard = new LocalGuard(service);
  onTestFinished(() => guard.close());
  return guard;
}
