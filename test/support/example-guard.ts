import { onTestFinished } from "vitest";
import { ServiceGuard } from "../../src/guard/service-guard.ts";
import { Anonymize, BanSubstrings, Deanonymize } from "../../src/index.ts";
import type { ScanServiceOptions } from "../../src/service.ts";
import { serviceWith } from "./service.ts";

/**
 * A guard without models. E-mail addresses go out as placeholders, and come back. Requests with the word `forbidden` are blocked, and
 * answers with the word `leaked`.
 */
export async function exampleGuard(options: Partial<ScanServiceOptions> = {}): Promise<ServiceGuard> {
  const word = (substring: string) => new BanSubstrings({ substrings: [substring], matchType: "word" });
  const { service } = await serviceWith(
    {
      input: [new Anonymize({ entityTypes: ["EMAIL_ADDRESS"], recognizerConf: [] }), word("forbidden")],
      output: [new Deanonymize(), word("leaked")],
    },
    options,
  );
  const guard = new ServiceGuard(service);
  onTestFinished(() => guard.close());
  return guard;
}
