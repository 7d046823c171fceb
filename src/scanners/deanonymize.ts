import { z } from "zod";
import { addon, native, type Restoration } from "../native.ts";
import type { Edit } from "../scan/edits.ts";
import { MAX_FINDINGS } from "../scan/findings.ts";
import { type Finding, passed, type Verdict, wholeText } from "../scan/scanner.ts";
import { PASSED } from "../scan/score.ts";
import { DerivedFromVaults, Vault } from "../scan/vault.ts";
import { escapedSpellings, inJson } from "../text/escaped-spellings.ts";
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

Placeholders are also found as models write them in other formats, and their originals are escaped in the same way: in Markdown
(\`\\[REDACTED\\_PERSON\\_1\\]\`), HTML (\`&#91;REDACTED_PERSON_1&#93;\`), URLs (\`%5BREDACTED_PERSON_1%5D\`) and JSON (\`\\u005bREDACTED_PERSON_1\\u005d\`). With
\`fuzzy\`, only as many characters may differ as it allows.

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
      const { matchingStrategy } = options;
      const own = context.monitors ? options.vault?.monitored() : options.vault;
      const vault = own ?? context.vault;
      const isFuzzy = matchingStrategy === "fuzzy" || matchingStrategy === "combined_exact_fuzzy";
      const spell = isFuzzy ? undefined : escapedSpellings(text);
      const isExact = matchingStrategy === "exact" && !spell;
      const vaultEntries = (isExact ? vault?.entriesIn(text) : vault?.entries()) ?? [];
      if (vaultEntries.length === 0) return passed(text);
      const matters = () => spell || vaultEntries.some(([, original]) => inJson(original) !== original);
      // While an answer is streamed, nobody knows whether all of it will be JSON.
      const isInJson = !context.arriving && mayBeJson(text) && matters() && isJson(text);
      const entries = vaultEntries.flatMap((entry) => spelledEntries(entry, spell, isInJson));
      const labels = entries.map(({ label }) => label);
      const placeholders = entries.map(({ placeholder }) => placeholder);
      const originals = entries.map(({ original }) => original);
      if (matchingStrategy === "exact" && text.length * entries.length <= MAX_SEARCH) {
        const found = occurrences(text, placeholders);
        return found.length === 0
          ? passed(text)
          : verdict(text, labels, originals, { matches: Float64Array.from(found.flat()) });
      }
      const matching = isFuzzy ? "fuzzy" : matchingStrategy;
      const restore = () => addon.restorePlaceholders(text, placeholders, originals, matching);
      return verdict(text, labels, originals, await native(restore, context));
    },
  }),
});

/** A spelling of a placeholder, and its original as it is written in its place. */
interface SpelledEntry {
  placeholder: string;
  original: string;
  /** The placeholder as it is in the vault. */
  label: string;
}

/**
 * Returns an entry of a vault, and the spellings in which models write its placeholder in Markdown, HTML, URLs and JSON, such as
 * `\\[REDACTED\\_PERSON\\_1\\]`. The original is escaped in the same way.
 */
function spelledEntries(
  [label, value]: readonly [placeholder: string, original: string],
  spell: ReturnType<typeof escapedSpellings>,
  isInJson: boolean,
): SpelledEntry[] {
  const plain = { placeholder: label, original: isInJson ? inJson(value) : value, label };
  const escaped = (spell?.(label) ?? []).flatMap(({ spelling, write, isJson }): SpelledEntry[] => {
    const written = write(value);
    if (!isInJson) return [{ placeholder: spelling, original: written, label }];
    return [
      { placeholder: spelling, original: isJson ? written : inJson(written), label },
      { placeholder: inJson(spelling), original: inJson(written), label },
    ];
  });
  return [plain, ...escaped];
}

/** A placeholder in a text, and its index in the list. */
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
  labels: readonly string[],
  originals: readonly string[],
  { matches, searched = text.length }: Pick<Partial<Restoration>, "searched"> & { matches: Rows },
): Verdict {
  const finding = (column: (index: number) => number): Finding => {
    const [start, end] = [column(0), column(1)];
    const label = labels[column(2)] as string;
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
