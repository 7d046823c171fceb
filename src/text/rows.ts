import type { TimeSlice } from "../support/time-slice.ts";

/**
 * Rows of numbers, as the addon gives places in a text: it makes no objects of them, because Node-API takes long for each of their
 * fields, and all of it on the event loop. Few numbers are a plain array, many a typed one.
 */
export type Rows = ArrayLike<number>;

/**
 * Makes something of each row.
 *
 * @param width how many numbers a row has.
 * @param make gets a function that returns a number of the row by its column.
 * @param most at most so many rows are read.
 */
export function mapRows<T>(
  rows: Rows,
  width: number,
  make: (column: (index: number) => number) => T,
  most = Number.POSITIVE_INFINITY,
): T[] {
  const made: T[] = [];
  let from = 0;
  const column = (index: number) => rows[from + index] as number;
  for (; from < rows.length && made.length < most; from += width) made.push(make(column));
  return made;
}

/** Does the same as {@link mapRows} for all rows, in slice: there may be a hundred thousand of them. */
export async function mapRowsInSlices<T>(
  rows: Rows,
  width: number,
  make: (column: (index: number) => number) => T,
  slice: TimeSlice,
): Promise<T[]> {
  const made: T[] = [];
  let from = 0;
  const column = (index: number) => rows[from + index] as number;
  for (; from < rows.length; from += width) {
    if (slice.isOver) await slice.next();
    made.push(make(column));
  }
  return made;
}
