import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { GuardValidationError } from "../../errors.ts";
import { addon, native, type PiiFinding, type PiiScan, SHORT_TEXT } from "../../native.ts";
import { commonOptions } from "../../options.ts";
import { BaseScanner, passed, type ScanContext, type Verdict, wholeText } from "../../scanner.ts";
import { Vault, type VaultEntry } from "../../vault.ts";
import { findingsOf, PersonalDataDetector, personalDataOptions, replaced } from "../shared/personal-data.ts";
import { FakeValues } from "./fake-values.ts";
import { Placeholders } from "./placeholders.ts";

/** How often other fakes are made for those that the text has already. */
const ROUNDS = 3;
/** Milliseconds for which fakes are looked for at a time, found or not; then others have their turn. */
const TURN = 10;

const schema = z.strictObject({
  ...commonOptions,
  vault: z
    .custom<Vault>((value) => value instanceof Vault, "expected a Vault; a file cannot give one")
    .optional()
    .describe("Where originals are kept, for Deanonymize. Default: the vault of the call. A file cannot give one."),
  hiddenNames: z
    .array(z.string().trim().min(1))
    .default([])
    .describe("Names that are always replaced, as whole words in any case: [REDACTED_CUSTOM_1]."),
  allowedNames: z.array(z.string().trim().min(1)).default([]).describe("Values that are never replaced, in any case."),
  ...personalDataOptions,
  preamble: z.string().default("").describe("Text to put before a text in which something was replaced."),
  useFaker: z
    .boolean()
    .default(false)
    .describe(
      "Replaces values by invented ones of the same kind and format, where there are such, in place of placeholders. Needs the package @faker-js/faker.",
    ),
});

/** A text without its personal data. */
interface Anonymized {
  text: string;
  /** What the vault has to keep. */
  entries: VaultEntry[];
}

/**
 * Replaces personal data by placeholders such as `[REDACTED_EMAIL_ADDRESS_1]`, or by invented values, and keeps the originals in
 * a vault, from which Deanonymize restores them.
 *
 * The vault is its own, where it was given one, or else that of the call: `scanPrompt(scanners, prompt, { vault })`. A value
 * keeps its placeholder as long as the vault lives. Placeholders and fakes in it are left alone, so scanning a text again changes
 * nothing. What the text itself has that looks like a placeholder is no one's: its number is not given away.
 *
 * Invented values keep the format, the checksum, and the country, issuer or region of what they replace; names and addresses
 * are those of the language, or of the script. None is a part of the text, nor another value of the vault.
 *
 * What llm-guard 0.3.16 does differently:
 *
 * - It looks for thirteen types by default, and so for no pattern of the user unless its type is listed. Here it is for all types but
 *   `URL`, `DATE_TIME` and those of patterns such as `DATE_RE`, in all languages.
 * - Its defaults have `US_SSN_RE` and `CREDIT_CARD_RE` too, which go by the form alone. Here `US_SSN` and `CREDIT_CARD` go by rule and
 *   checksum: other numbers of that form are found only where `entityTypes` names those two. A `US_SSN` without a word such as
 *   "SSN" nearby has a score of 0.7, so not with the `threshold` of 0.75 that the file of llm-guard's API has.
 * - It adds `CUSTOM` to the list that it was given, and `regex_patterns` take the place of its own.
 * - Its numbers are those of how many placeholders there are, also where the text or the vault has that one already.
 * - It gives one value another fake at every place, and of two values with one fake only the first can be restored.
 */
export class Anonymize extends BaseScanner<typeof schema> {
  static readonly type = "Anonymize";
  static readonly options = schema;
  readonly sanitizes = true;
  readonly #detector: PersonalDataDetector;
  #fakes: Promise<FakeValues> | undefined;

  /** @throws GuardValidationError for options that cannot be used, with their paths. */
  constructor(options: z.input<typeof schema> = {}) {
    super(Anonymize.type, schema, options);
    const { hiddenNames: hidden, allowedNames: allowed } = this.options;
    const known = new Set(hidden.map((name) => name.toLowerCase()));
    const issues = allowed.flatMap((name, index) =>
      known.has(name.toLowerCase()) ? [{ path: `allowedNames.${index}`, message: "is one of hiddenNames too" }] : [],
    );
    if (issues.length > 0) throw new GuardValidationError(issues);
    this.#detector = new PersonalDataDetector(this.options, { hidden, allowed });
  }

  get vaultScope(): "call" | "own" {
    return this.options.vault === undefined ? "call" : "own";
  }

  /** Loads the models and, where it invents values, what it takes them from. */
  async load(signal?: AbortSignal): Promise<void> {
    await Promise.all([this.#detector.load(signal), this.#faker()]);
  }

  async close(): Promise<void> {
    await this.#detector.close();
  }

  protected async check(text: string, context: ScanContext): Promise<Verdict> {
    const vault = this.options.vault ?? context.vault ?? new Vault();
    const scan = await this.#detector.find(text, vault, context);
    if (scan.findings.length === 0) return passed(text);
    const anonymized = await this.#anonymize(text, scan, vault);
    return {
      isValid: false,
      score: this.#detector.score(scan),
      sanitized: this.options.preamble + anonymized,
      findings: findingsOf(text, scan),
      coverage: wholeText(text),
    };
  }

  #faker(): Promise<FakeValues> | undefined {
    if (!this.options.useFaker) return undefined;
    this.#fakes ??= FakeValues.load(this.#detector, this.options.language);
    return this.#fakes;
  }

  /** The text without what was found, all of which the vault has then. */
  async #anonymize(text: string, scan: PiiScan, vault: Vault): Promise<string> {
    const fakes = await this.#faker();
    if (!fakes) return kept(vault, withPlaceholders(text, scan, vault));
    // Another scan may use the vault while fakes are looked for; then they have to be new to what it holds now.
    for (;;) {
      const { size } = vault;
      const anonymized = await withFakes(text, scan, vault, fakes);
      if (vault.size === size) return kept(vault, anonymized ?? withPlaceholders(text, scan, vault));
    }
  }
}

/** Puts into the vault what it has to keep. Between that and the choice of placeholders nobody else may use it. */
function kept(vault: Vault, { text, entries }: Anonymized): string {
  for (const entry of entries) vault.append(entry);
  return text;
}

/** Replaces all findings; `fakes` are those of values that have one. */
function withPlaceholders(text: string, scan: PiiScan, vault: Vault, fakes?: ReadonlyMap<string, string>): Anonymized {
  const placeholders = new Placeholders(vault.entries(), scan.numbers);
  const entries: VaultEntry[] = [];
  const masked = replaced(text, scan.findings, (finding) => {
    const value = foundIn(text, finding);
    const known = placeholders.known(finding, value);
    if (known !== undefined) return known;
    const added = placeholders.add(finding, value, fakes?.get(value));
    entries.push([added, value]);
    return added;
  });
  return { text: masked, entries };
}

/** The same with fakes; `undefined` where the text could not be restored from them. */
async function withFakes(
  text: string,
  scan: PiiScan,
  vault: Vault,
  fakes: FakeValues,
): Promise<Anonymized | undefined> {
  const lower = (value: string) => value.toLowerCase();
  const placeholders = new Placeholders(vault.entries(), scan.numbers);
  const taken = new Set(vault.entries().flatMap(([placeholder, original]) => [lower(placeholder), lower(original)]));
  let missing = new Map<string, PiiFinding>();
  for (const finding of scan.findings) {
    const value = foundIn(text, finding);
    taken.add(lower(value));
    if (placeholders.known(finding, value) === undefined) missing.set(value, finding);
  }
  const chosen = new Map<string, string>();
  for (let round = 0; round < ROUNDS && missing.size > 0; round++) {
    const made: [value: string, fake: string][] = [];
    let since = performance.now();
    for (const [value, finding] of missing) {
      if (performance.now() - since > TURN) {
        await setImmediate();
        since = performance.now();
      }
      const fake = fakes.of(finding, value, (candidate) => taken.has(lower(candidate)));
      if (fake === undefined) continue;
      taken.add(lower(fake));
      made.push([value, fake]);
    }
    const candidates = made.map(([, fake]) => fake);
    const found = new Set((await occurrences(text, candidates, "case_insensitive")).map(({ rule }) => rule));
    for (const [index, [value, fake]] of made.entries()) if (!found.has(index)) chosen.set(value, fake);
    missing = new Map(
      made.flatMap(([value], index) => (found.has(index) ? [[value, missing.get(value) as PiiFinding]] : [])),
    );
  }
  const anonymized = withPlaceholders(text, scan, vault, chosen);
  return (await canRestore(text, scan, vault, anonymized)) ? anonymized : undefined;
}

/** Whether Deanonymize finds in the new text what was put there and what was there before, and nothing else. */
async function canRestore(
  text: string,
  scan: PiiScan,
  vault: Vault,
  { text: masked, entries }: Anonymized,
): Promise<boolean> {
  const originals = new Map([...vault.entries(), ...entries]);
  const found = await occurrences(masked, [...originals.keys()], "exact");
  const known = scan.known.map(({ start, end }) => ({ start, end, isNew: false }));
  const places = [...known, ...scan.findings.map(({ start, end }) => ({ start, end, isNew: true }))];
  places.sort((one, other) => one.start - other.start);
  if (found.length !== places.length) return false;
  const restored = [...originals.values()];
  let moved = 0;
  return places.every(({ start, end, isNew }, index) => {
    const { start: at, end: to, rule } = found[index] as (typeof found)[number];
    const fits = at === start + moved && (!isNew || restored[rule] === text.slice(start, end));
    moved += to - at - (end - start);
    return fits;
  });
}

async function occurrences(text: string, values: string[], matching: "exact" | "case_insensitive") {
  const restore = text.length <= SHORT_TEXT ? "restorePlaceholders" : "restorePlaceholdersLong";
  return (await native(() => addon[restore](text, values, values, matching as never))).matches;
}

function foundIn(text: string, { start, end }: PiiFinding): string {
  return text.slice(start, end);
}
