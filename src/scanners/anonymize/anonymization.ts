import { type Abortable, addon, native, type PiiFinding, type PlaceholderMatching } from "../../native.ts";
import { applyEdits, type Edit } from "../../scan/edits.ts";
import type { Vault, VaultEntry } from "../../scan/vault.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import { mapRows } from "../../text/rows.ts";
import type { Span } from "../../text/span.ts";
import type { Operators } from "../parts/operators.ts";
import { editsInSlices } from "../parts/personal-data.ts";
import type { PiiScan } from "../parts/pii-scan.ts";
import type { FakeValues } from "./fake-values.ts";
import { NumberedTexts } from "./numbered-texts.ts";
import { isInVault, Placeholders } from "./placeholders.ts";

/** How often new fakes are made for values whose fake is already in the text. */
const MAX_ROUNDS = 3;

/** The edits that replace the personal data of a text. */
interface Anonymization {
  edits: Edit[];
  /** The new entries for the vault. */
  entries: VaultEntry[];
}

/** How values are replaced. */
interface Replacing {
  operators: Operators;
  /** Creates invented values. Without it, no type has fakes. */
  fakes: FakeValues | undefined;
}

/** Returns an edit for each finding, and adds the original values to the vault if it can restore them. */
export async function anonymize(
  text: string,
  scan: PiiScan,
  vault: Vault,
  { operators, fakes }: Replacing,
  context: Abortable,
): Promise<Edit[]> {
  const slice = new TimeSlice(context.signal);
  // Another scan may add entries to the vault while this one waits for its time slice. The replacements must differ from those entries, so
  // they are chosen again.
  for (;;) {
    const { size } = vault;
    const anonymized =
      (fakes && (await withFakes(text, scan, vault, { operators, fakes }, slice, context))) ??
      (await withPlaceholders(text, scan, vault, operators, slice));
    if (slice.isOver) await slice.next();
    if (vault.size !== size) continue;
    // Nothing is awaited between the choice of the placeholders and this line, because no other scan may use the vault in between.
    for (const entry of anonymized.entries) vault.append(entry);
    return anonymized.edits;
  }
}

/** Replaces all findings: by their `fakes`, by the results of their operators, and the others by placeholders. */
async function withPlaceholders(
  text: string,
  scan: PiiScan,
  vault: Vault,
  operators: Operators,
  slice: TimeSlice,
  fakes?: ReadonlyMap<string, string>,
): Promise<Anonymization> {
  const placeholders = new Placeholders(vault, scan.numbers);
  const numbered = new NumberedTexts(text, isInVault(vault));
  const entries: VaultEntry[] = [];
  /** Returns what replaces a value in place of a placeholder. */
  const replacing = ({ entity }: PiiFinding, value: string) => {
    const operator = operators.of(entity);
    if (operator.type === "fake") return fakes?.get(value);
    const template = operator.type === "replace" ? operator.newValue : undefined;
    return template === undefined ? operators.replacement(entity, value) : numbered.next(template);
  };
  const replacement = (finding: PiiFinding) => {
    const value = foundIn(text, finding);
    const { entity } = finding;
    if (!operators.isRestorable(entity)) return operators.replacement(entity, value) as string;
    const known = placeholders.known(finding, value);
    if (known !== undefined) return known;
    const added = placeholders.add(finding, value, replacing(finding, value));
    entries.push([added, value]);
    return added;
  };
  return { edits: await editsInSlices(text, scan.findings, replacement, slice), entries };
}

/** Replaces findings by fakes if possible. It returns undefined if the text could not be restored from the fakes. */
async function withFakes(
  text: string,
  scan: PiiScan,
  vault: Vault,
  { operators, fakes }: Replacing & { fakes: FakeValues },
  slice: TimeSlice,
  context: Abortable,
): Promise<Anonymization | undefined> {
  const lower = (value: string) => value.toLowerCase();
  const placeholders = new Placeholders(vault, scan.numbers);
  const isKnown = isInVault(vault);
  const taken = new Set<string>();
  let missing = new Map<string, PiiFinding>();
  for (const finding of scan.findings) {
    if (slice.isOver) await slice.next();
    const value = foundIn(text, finding);
    taken.add(lower(value));
    const isFake = operators.of(finding.entity).type === "fake";
    if (isFake && placeholders.known(finding, value) === undefined) missing.set(value, finding);
  }
  const chosen = new Map<string, string>();
  for (let round = 0; round < MAX_ROUNDS && missing.size > 0; round++) {
    const made: [value: string, fake: string][] = [];
    for (const [value, finding] of missing) {
      if (slice.isOver) await slice.next();
      const fake = fakes.of(finding, value, (candidate) => taken.has(lower(candidate)) || isKnown(candidate));
      if (fake === undefined) continue;
      taken.add(lower(fake));
      made.push([value, fake]);
    }
    const candidates = made.map(([, fake]) => fake);
    const found = new Set((await occurrences(text, candidates, "case_insensitive", context)).map(({ rule }) => rule));
    for (const [index, [value, fake]] of made.entries()) if (!found.has(index)) chosen.set(value, fake);
    missing = new Map(
      made.flatMap(([value], index) => (found.has(index) ? [[value, missing.get(value) as PiiFinding]] : [])),
    );
  }
  const anonymized = await withPlaceholders(text, scan, vault, operators, slice, chosen);
  return (await canRestore(text, scan, vault, operators, anonymized, context)) ? anonymized : undefined;
}

/**
 * Tells whether Deanonymize would find in the rewritten text exactly the placeholders and fakes that are meant, and nothing else.
 */
async function canRestore(
  text: string,
  scan: PiiScan,
  vault: Vault,
  operators: Operators,
  { edits, entries }: Anonymization,
  context: Abortable,
): Promise<boolean> {
  const rewritten = applyEdits(text, edits);
  // No other placeholder of the vault occurs in the text.
  const originals = new Map([...vault.entriesIn(rewritten), ...entries]);
  const found = await occurrences(rewritten, [...originals.keys()], "exact", context);
  // A hash of an earlier scan is no placeholder of the vault.
  const stored = scan.known.filter((span) => originals.has(foundIn(text, span)));
  const known = stored.map(({ start, end }) => ({ start, end, length: end - start, isNew: false, isRestored: true }));
  const added = edits.map(({ start, end, replacement }, index) => {
    const { entity } = scan.findings[index] as PiiFinding;
    return { start, end, length: replacement.length, isNew: true, isRestored: operators.isRestorable(entity) };
  });
  const places = [...known, ...added].sort((one, other) => one.start - other.start);
  if (found.length !== places.filter(({ isRestored }) => isRestored).length) return false;
  const restored = [...originals.values()];
  let [moved, next] = [0, 0];
  return places.every(({ start, end, length, isNew, isRestored }) => {
    if (!isRestored) {
      moved += length - (end - start);
      return true;
    }
    const { start: at, end: to, rule } = found[next++] as (typeof found)[number];
    // A replacement of a number of JSON has quotation marks around it.
    const isInside = start + moved <= at && to <= start + moved + length;
    moved += length - (end - start);
    return isInside && (!isNew || restored[rule] === text.slice(start, end));
  });
}

async function occurrences(text: string, values: string[], matching: PlaceholderMatching, context: Abortable) {
  const { matches } = await native(() => addon.restorePlaceholders(text, values, values, matching), context);
  return mapRows(matches, 3, (column) => ({ start: column(0), end: column(1), rule: column(2) }));
}

function foundIn(text: string, { start, end }: Span): string {
  return text.slice(start, end);
}
