import type { PersonalData, PiiFinding } from "../../native.ts";
import type { TimeSlice } from "../../support/time-slice.ts";
import { mapRowsInSlices } from "../../text/rows.ts";
import type { Span } from "../../text/span.ts";

type NativePiiScan = Awaited<ReturnType<PersonalData["find"]>>;

/** A check of a value, such as its checksum, and its result. */
export interface ValueCheck {
  /** The name of the check: `pl-pesel`. */
  id: string;
  /** Whether the value is valid. */
  passed: boolean;
}

/** A piece of personal data. */
export interface PersonalDataFinding extends PiiFinding {
  /** The check of the value, if its recognizer has one. A failed one means that the value only has the form of its type. */
  check?: ValueCheck;
}

/** The personal data of a text. */
export interface PiiScan {
  /** In ascending order and without overlaps. */
  findings: PersonalDataFinding[];
  /** The highest score, before findings were merged. */
  highest: number;
  /** The placeholders of the vault. */
  known: Span[];
  /** The numbers of everything that looks like a placeholder, whoever wrote it. */
  numbers: { entity: string; number: number }[];
}

/** Reads the rows of the addon. */
export async function piiScanOf(
  { findings, highest, known, numbers, names }: NativePiiScan,
  slice: TimeSlice,
): Promise<PiiScan> {
  const name = (index: number) => names[index] as string;
  return {
    findings: await mapRowsInSlices(
      findings,
      8,
      (column) => ({
        ...{ start: column(0), end: column(1), score: column(2) },
        ...{ entity: name(column(3)), recognizer: name(column(4)) },
        ...(column(5) < 0 ? {} : { context: name(column(5)) }),
        ...(column(6) < 0 ? {} : { check: { id: name(column(6)), passed: column(7) === 0 } }),
      }),
      slice,
    ),
    highest,
    known: await mapRowsInSlices(known, 2, (column) => ({ start: column(0), end: column(1) }), slice),
    numbers: await mapRowsInSlices(numbers, 2, (column) => ({ entity: name(column(0)), number: column(1) }), slice),
  };
}
