import { type Abortable, type addon, native } from "../../native.ts";
import type { ScanContext } from "../../scan/scanner.ts";
import type { Source } from "../../scan/source.ts";
import { mapRows } from "../../text/rows.ts";
import { addressesIn } from "../parts/tool-taint.ts";

/** The fewest characters of a secret or an address that counts. Shorter ones occur by chance. */
const MIN_VALUE_LENGTH = 6;

export type SecretRules = InstanceType<typeof addon.SecretRules>;

/** The texts of a conversation, and the values in them that must not leave it. */
export interface ConversationData {
  system: string[];
  tool: string[];
  /** What users wrote. It may leave the conversation through links. */
  user: string[];
  /** All texts, joined by line breaks. */
  all: string;
  /** All texts in lower case, with single spaces. */
  folded: string;
  userFolded: string;
  /** The secrets and e-mail addresses in all texts, in lower case. */
  values: string[];
  /** The values that users wrote. */
  userValues: ReadonlySet<string>;
}

/** Collects the data of the conversation that a text belongs to. */
export async function readConversationData(
  { conversation, prompt, signal }: ScanContext,
  rules: SecretRules,
): Promise<ConversationData> {
  const of = (wanted: Source) =>
    conversation?.texts.filter(({ source }) => source === wanted).map(({ text }) => text) ?? [];
  const system = of("system");
  const tool = of("tool");
  const user = [...(prompt === undefined ? [] : [prompt]), ...of("user")];
  const [values, userValues] = await Promise.all([
    valuesIn([...system, ...tool, ...user], rules, { signal }),
    valuesIn(user, rules, { signal }),
  ]);
  const all = [...system, ...tool, ...user].join("\n");
  return {
    ...{ system, tool, user, all, values },
    folded: foldText(all),
    userFolded: foldText(user.join("\n")),
    userValues: new Set(userValues),
  };
}

/** Returns a text in lower case, with single spaces. */
export function foldText(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ");
}

/** Returns the secrets and e-mail addresses in texts. */
async function valuesIn(texts: readonly string[], rules: SecretRules, abortable: Abortable): Promise<string[]> {
  const text = texts.join("\n");
  const { secrets, rest } = await native(() => rules.scan(text, "all", false), abortable);
  const others = rest ? mapRows(rest, 2, (column) => ({ start: column(0), end: column(1) })) : [];
  const mails = (await addressesIn(text, abortable)).filter((address) => address.includes("@"));
  return (
    [...[...secrets, ...others].map(({ start, end }) => text.slice(start, end)), ...mails]
      // A secret at the end of a sentence has its full stop, because a password may end with one. A URL repeats it without.
      .map((value) => value.toLowerCase().replace(/[.,;:!?]$/, ""))
      .filter((value) => value.length >= MIN_VALUE_LENGTH)
  );
}
