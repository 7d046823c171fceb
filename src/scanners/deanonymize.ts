import { z } from "zod";
import { addon, native, type Restoration } from "../native.ts";
import type { Edit } from "../scan/edits.ts";
import { MAX_FINDINGS } from "../scan/findings.ts";
import { type Finding, passed, type Verdict, wholeText } from "../scan/scanner.ts";
import { PASSED } from "../scan/score.ts";
import { Vault } from "../scan/vault.ts";
import { andThen } from "../support/maybe-async.ts";
import { mapRows, type Rows } from "../text/rows.ts";
import { defineScanner } from "./definition.ts";
import { longestOf } from "./parts/open-spans.ts";
import { withEdits } from "./parts/redaction.ts";

/** UTF-16 code units of a text, times placeholders, up to which to look for each of them here takes less than to call the addon. */
const AT_ONCE = 400_000;

export const Deanonymize = defineScanner({
  type: "Deanonymize",
  summary: "Puts the originals from a vault in the place of their placeholders. Every text passes.",
  description: `The vault is its own, where it was given one, or else that of the call: \`scanOutput(scanners, prompt, output, { vault })\`.
Without either there is nothing to restore: the text stays as it is, with no findings.

An output that is JSON stays JSON: quotes and line breaks of an original are escaped. Of a stream nobody knows that before its end, so
there they are restored as they are.

Findings name the placeholders, never the originals. What llm-guard 0.3.16 does differently:

- Its API has one vault for all callers and forgets nothing, so an output is restored without more, also from values of others.
  Here the vault is the call's: an output whose request does not bring it stays as it is.
- It replaces one placeholder after the other, so a restored value that looks like a placeholder is replaced again, and "Ann" is
  found within "Anna Lee". Here all are replaced in one pass, and of placeholders that overlap the longer one.
- It takes placeholders for regular expressions under \`case_insensitive\`, and \`[REDACTED_PERSON_1]\` matches single letters of any word.
- Its \`fuzzy\` takes \`[REDACTED_PERSON_2]\` for a misspelt \`[REDACTED_PERSON_1]\`, and any three letters for a name of three.
  Here digits have to be right, a placeholder may differ in one of four characters, and what could be one
  placeholder as well as another stays.`,
  sides: { output: {} },
  options: () => ({
    vault: z
      .custom<Vault>(
        (value) => value instanceof Vault,
        "expected the Vault that Anonymize filled; a file cannot give one",
      )
      .optional()
      .describe(
        "The Vault that Anonymize filled, read at every scan. Default: that of the call. A file cannot give one.",
      )
      .meta({ typescript: "Vault", typescriptFrom: "scan/vault.ts", programOnly: true }),
    matchingStrategy: z
      .enum(["exact", "case_insensitive", "fuzzy", "combined_exact_fuzzy"])
      .default("exact")
      .describe(
        "exact: placeholders as they are. case_insensitive: in any case. fuzzy: up to 3 characters may be wrong, none of them a " +
          "digit. combined_exact_fuzzy: the same, as exact ones always come first.",
      ),
  }),
  differences: [
    {
      text: "It needs the `vault` of the reply to the prompt. llm-guard's API has one vault for all callers, so that one of them could be shown the values of another. Without a vault placeholders stay, and the log says so once.",
    },
  ],
  findings: [{ type: "placeholder", label: "The placeholder as the vault has it." }],
  examples: {
    options: { vault: new Vault([["[REDACTED_PERSON_1]", "Ada Lovelace"]]) },
    passes: [
      { text: "Dear [REDACTED_PERSON_1],", sanitized: "Dear Ada Lovelace," },
      { text: "Dear [REDACTED_PERSON_2],", sanitized: "Dear [REDACTED_PERSON_2]," },
    ],
    fails: [],
  },
  create: ({ options }) => ({
    sanitizes: true,
    vaultScope: options.vault === undefined ? "call" : "own",
    // Fakes may have several words, and may stand across the end of a sentence, as "Dr. Smith".
    streaming: {
      reads: "spans",
      span: ({ vault }) => longestPlaceholder(options.vault ?? vault),
      across: ({ vault }) => longestPlaceholder(options.vault ?? vault),
    },
    check(text, context) {
      const { vault = context.vault, matchingStrategy } = options;
      const entries = vault?.entries() ?? [];
      if (entries.length === 0) return passed(text);
      const placeholders = entries.map(([placeholder]) => placeholder);
      const values = entries.map(([, original]) => original);
      // While an answer arrives, nothing tells yet whether all of it will be JSON.
      const escaped = context.arriving || !mayBeJson(text) ? values : values.map(inJson);
      const originals = escaped.some((value, index) => value !== values[index]) && isJson(text) ? escaped : values;
      if (matchingStrategy === "exact" && text.length * entries.length <= AT_ONCE) {
        const found = occurrences(text, placeholders);
        return found.length === 0
          ? passed(text)
          : verdict(text, placeholders, originals, { matches: Float64Array.from(found.flat()) });
      }
      const matching = matchingStrategy === "combined_exact_fuzzy" ? "fuzzy" : matchingStrategy;
      const restoration = native(() => addon.restorePlaceholders(text, placeholders, originals, matching), context);
      return andThen(restoration, (restoration) => verdict(text, placeholders, originals, restoration));
    },
  }),
});

/** Where a placeholder is in a text, and its index. */
type Occurrence = [start: number, end: number, placeholder: number];

/** The placeholders in a text, in its order; of those that overlap the first one, and of those that begin together the longest. */
function occurrences(text: string, placeholders: readonly string[]): Occurrence[] {
  const all: Occurrence[] = [];
  for (const [index, { length }] of placeholders.entries()) {
    const placeholder = placeholders[index] as string;
    if (length === 0) continue;
    for (let at = text.indexOf(placeholder); at >= 0; at = text.indexOf(placeholder, at + length)) {
      all.push([at, at + length, index]);
    }
  }
  if (all.length < 2) return all;
  all.sort((one, other) => one[0] - other[0] || other[1] - one[1] || one[2] - other[2]);
  let last = 0;
  return all.filter(([start, end]) => {
    const isFree = start >= last;
    if (isFree) last = end;
    return isFree;
  });
}

function verdict(
  text: string,
  placeholders: readonly string[],
  originals: readonly string[],
  { matches, searched = text.length }: Pick<Partial<Restoration>, "searched"> & { matches: Rows },
): Verdict {
  const finding = (column: (index: number) => number): Finding => {
    const [start, end] = [column(0), column(1)];
    const label = placeholders[column(2)] as string;
    return { start, end, type: "placeholder", text: text.slice(start, end), score: 1, label };
  };
  const findings = mapRows(matches, 3, finding, MAX_FINDINGS);
  const edits = mapRows(matches, 3, (column): Edit => {
    return { start: column(0), end: column(1), replacement: originals[column(2)] as string };
  });
  const coverage = wholeText(text, 1, matches.length / 3 - findings.length);
  return {
    isValid: true,
    score: PASSED,
    ...withEdits(edits),
    findings,
    coverage: { ...coverage, scannedChars: searched, truncated: searched < text.length },
  };
}

/** Whether a text begins as JSON does. */
function mayBeJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

/** Whether a text is a JSON object or array, as models write structured answers. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A value as it stands within a string of JSON: quotes and line breaks in it do not end that string. */
function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** The length of the longest placeholder of several words, such as the fake of a name. */
function longestPlaceholder(vault: Vault | undefined): number {
  return longestOf((vault?.entries() ?? []).map(([placeholder]) => placeholder));
}
