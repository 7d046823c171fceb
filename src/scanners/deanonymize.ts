import { z } from "zod";
import { addon, native, type Restoration } from "../native.ts";
import type { Edit } from "../scan/edits.ts";
import { MAX_FINDINGS } from "../scan/findings.ts";
import { type Finding, passed, type Verdict, wholeText } from "../scan/scanner.ts";
import { PASSED } from "../scan/score.ts";
import { DerivedFromVaults, Vault } from "../scan/vault.ts";
import { mapRows, type Rows } from "../text/rows.ts";
import { defineScanner } from "./define-scanner.ts";
import { longestOf } from "./parts/open-spans.ts";
import { withEdits } from "./parts/redaction.ts";

/** Up to this product of UTF-16 code units and placeholders, searching here is faster than calling the addon. */
const MAX_SEARCH = 400_000;

export const Deanonymize = defineScanner({
  type: "Deanonymize",
  summary: "Replaces placeholders by their originals from a vault. Every text passes.",
  description: `The scanner uses the vault of its options, or otherwise the vault of the call: \`scanOutput(scanners, prompt, output, { vault })\`.
Without a vault there is nothing to restore: the text is unchanged, without findings.

An output that is JSON stays JSON: quotes and line breaks of an original are escaped. In a stream, originals are inserted unchanged,
because nobody knows before its end whether it is JSON.

Findings name the placeholders, never the originals. What llm-guard 0.3.16 does differently:

- Its API has one vault for all callers and forgets nothing, so an output is restored without a vault in the request, even from values
  of others. Here an output is restored only from the vault of its request.
- It replaces one placeholder after the other, so a restored value that looks like a placeholder is replaced again, and "Ann" is
  found within "Anna Lee". Here all are replaced in one pass, and the longer one of overlapping placeholders wins.
- With \`case_insensitive\`, it reads placeholders as regular expressions, so \`[REDACTED_PERSON_1]\` matches single letters of any word.
- With \`fuzzy\`, it takes \`[REDACTED_PERSON_2]\` for a misspelt \`[REDACTED_PERSON_1]\`, and any three letters for a name of three letters.
  Here digits must be exact, one of four characters may differ, and an ambiguous placeholder is left alone.`,
  sides: { output: {} },
  options: () => ({
    vault: z
      .custom<Vault>(
        (value) => value instanceof Vault,
        "expected the Vault that Anonymize filled, which only a program can give",
      )
      .optional()
      .describe(
        "The Vault that Anonymize filled, read at every scan. Default: the vault of the call. Only a program can give one.",
      )
      .meta({ typescript: "Vault", typescriptFrom: "scan/vault.ts", programOnly: true }),
    matchingStrategy: z
      .enum(["exact", "case_insensitive", "fuzzy", "combined_exact_fuzzy"])
      .default("exact")
      .describe(
        "exact: placeholders as written. case_insensitive: in any case. fuzzy: up to 3 characters may be wrong, but no digits. " +
          "combined_exact_fuzzy: the same as fuzzy, which always prefers exact placeholders.",
      ),
  }),
  differences: [
    {
      text: "The request must contain the `vault` of the reply to the prompt. llm-guard's API has one vault for all callers, so one caller can see values of another. Without a vault, placeholders stay, and the log says so once.",
    },
  ],
  findings: [{ type: "placeholder", label: "The placeholder as it is in the vault." }],
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
    // Fakes may have several words, and may extend over the end of a sentence, such as "Dr. Smith".
    streaming: {
      reads: "spans",
      span: ({ vault }) => longestPlaceholder(options.vault ?? vault),
      across: ({ vault }) => longestPlaceholder(options.vault ?? vault),
    },
    async check(text, context) {
      const { vault = context.vault, matchingStrategy } = options;
      const entries = (matchingStrategy === "exact" ? vault?.entriesIn(text) : vault?.entries()) ?? [];
      if (entries.length === 0) return passed(text);
      const placeholders = entries.map(([placeholder]) => placeholder);
      const values = entries.map(([, original]) => original);
      // While an answer is streamed, nobody knows whether all of it will be JSON.
      const escaped = context.arriving || !mayBeJson(text) ? values : values.map(inJson);
      const originals = escaped.some((value, index) => value !== values[index]) && isJson(text) ? escaped : values;
      if (matchingStrategy === "exact" && text.length * entries.length <= MAX_SEARCH) {
        const found = occurrences(text, placeholders);
        return found.length === 0
          ? passed(text)
          : verdict(text, placeholders, originals, { matches: Float64Array.from(found.flat()) });
      }
      const matching = matchingStrategy === "combined_exact_fuzzy" ? "fuzzy" : matchingStrategy;
      const restore = () => addon.restorePlaceholders(text, placeholders, originals, matching);
      return verdict(text, placeholders, originals, await native(restore, context));
    },
  }),
});

/** A placeholder in a text, and its index in the vault. */
type Occurrence = [start: number, end: number, placeholder: number];

/** Returns the placeholders in a text, in order. The first one of overlapping placeholders counts, and the longest one if they begin together. */
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

/** Whether a text begins like JSON. */
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

/** Returns a value as it is written inside a JSON string, with escaped quotes and line breaks. */
function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

const LONGEST = new DerivedFromVaults(
  () => ({ length: 0 }),
  (longest, [placeholder]) => {
    longest.length = Math.max(longest.length, longestOf([placeholder]));
  },
);

/** Returns the length of the longest placeholder of several words, such as the fake of a name. */
function longestPlaceholder(vault: Vault | undefined): number {
  return vault ? LONGEST.of(vault).length : 0;
}
