import { type Abortable, addon, native, type PiiFinding, type PlaceholderMatching } from "../../native.ts";
import { applyEdits, type Edit } from "../../scan/edits.ts";
import type { Vault, VaultEntry } from "../../scan/vault.ts";
import { TimeSlice } from "../../support/time-slice.ts";
import { mapRows } from "../../text/rows.ts";
import { editsInSlices, type PiiScan } from "../parts/personal-data.ts";
import type { FakeValues } from "./fake-values.ts";
import { isInVault, Placeholders } from "./placeholders.ts";

/** How often new fakes are made for values whose fake is already in the text. */
const MAX_ROUNDS = 3;

/** The edits that replace the personal data of a text. */
interface Anonymization {
  edits: Edit[];
  /** The new entries for the vault. */
  entries: VaultEntry[];
}

/**
 * Returns an edit for each finding, and adds the original values to the vault.
 *
 * @param fakes creates invented values. Without it, placeholders are used.
 */
export async function anonymize(
  text: string,
  scan: PiiScan,
  vault: Vault,
  fakes: FakeValues | undefined,
  context: Abortable,
): Promise<Edit[]> {
  const slice = new TimeSlice(context.signal);
  // Another scan may add entries to the vault while this one waits for its time slice. The replacements must differ from those entries, so
  // they are chosen again.
  for (;;) {
    const { size } = vault;
    const anonymized =
      (fakes && (await withFakes(text, scan, vault, fakes, slice, context))) ??
      (await withPlaceholders(text, scan, vault, slice));
    if (slice.isOver) await slice.next();
    if (vault.size !== size) continue;
    // Nothing is awaited between the choice of the placeholders and this line, because no other scan may use the vault in between.
    for (const entry of anonymized.entries) vault.append(entry);
    return anonymized.edits;
  }
}

/** Replaces all findings: by their `fakes`, and the others by placeholders. */
async function withPlaceholders(
  text: string,
  scan: PiiScan,
  vault: Vault,
  slice: TimeSlice,
  fakes?: ReadonlyMap<string, string>,
): Promise<Anonymization> {
  const placeholders = new Placeholders(vault, scan.numbers);
  const entries: VaultEntry[] = [];
  const replacement = (finding: PiiFinding) => {
    const value = foundIn(text, finding);
    const known = placeholders.known(finding, value);
    if (known !== undefined) return known;
    const added = placeholders.add(finding, value, fakes?.get(value));
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
  fakes: FakeValues,
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
    if (placeholders.known(finding, value) === undefined) missing.set(value, finding);
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
  const anonymized = await withPlaceholders(text, scan, vault, slice, chosen);
  return (await canRestore(text, scan, vault, anonymized, context)) ? anonymized : undefined;
}

/**
 * Tells whether Deanonymize would find in the rewritten text exactly the placeholders and fakes that are meant, and nothing else.
 */
async function canRestore(
  text: string,
  scan: PiiScan,
  vault: Vault,
  { edits, entries }: Anonymization,
  context: Abortable,
): Promise<boolean> {
  const rewritten = applyEdits(text, edits);
  // No other placeholder of the vault occurs in the text.
  const originals = new Map([...vault.entriesIn(rewritten), ...entries]);
  const found = await occurrences(rewritten, [...originals.keys()], "exact", context);
  const known = scan.known.map(({ start, end }) => ({ start, end, length: end - start, isNew: false }));
  const added = edits.map(({ start, end, replacement }) => ({ start, end, length: replacement.length, isNew: true }));
  const places = [...known, ...added].sort((one, other) => one.start - other.start);
  if (found.length !== places.length) return false;
  const restored = [...originals.values()];
  let moved = 0;
  return places.every(({ start, end, length, isNew }, index) => {
    const { start: at, end: to, rule } = found[index] as (typeof found)[number];
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

function foundIn(text: string, { start, end }: PiiFinding): string {
  return text.slice(start, end);
}
