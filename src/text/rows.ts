import type { TimeSlice } from "../support/time-slice.ts";

/**
 * Rows of numbers in which the addon returns positions in a text. It creates no objects, because Node-API is slow for each field and runs
 * on the event loop. A short result is a plain array, a long one a typed array.
 */
export type Rows = ArrayLike<number>;

/**
 * Maps each row.
 *
 * @param width the number of columns.
 * @param map gets a function that returns the number in a column of the row.
 * @param limit the maximum number of rows that are read.
 */
export function mapRows<T>(
  rows: Rows,
  width: number,
  map: (column: (index: number) => number) => T,
  limit = Number.POSITIVE_INFINITY,
): T[] {
  const mapped: T[] = [];
  let from = 0;
  const column = (index: number) => rows[from + index] as number;
  for (; from < rows.length && mapped.length < limit; from += width) mapped.push(map(column));
  return mapped;
}

/** Does the same as {@link mapRows} in time slices, since there may be a hundred thousand rows. */
export async function mapRowsInSlices<T>(
  rows: Rows,
  width: number,
  map: (column: (index: number) => number) => T,
  slice: TimeSlice,
): Promise<T[]> {
  const mapped: T[] = [];
  let from = 0;
  const column = (index: number) => rows[from + index] as number;
  for (; from < rows.length; from += width) {
    if (slice.isOver) await slice.next();
    mapped.push(map(column));
  }
  return mapped;
}
