import pLimit from "p-limit";
import { Progress } from "../progress.ts";

/** The number of concurrent scans, as in a busy server. */
const CONCURRENCY = 16;

/** Applies a function to rows, many at the same time, and shows the progress. The results have the order of the rows. */
export async function mapRows<Row, Item>(rows: readonly Row[], map: (row: Row) => Promise<Item>): Promise<Item[]> {
  const progress = new Progress(rows.length, false);
  const limit = pLimit(CONCURRENCY);
  const mapOne = async (row: Row) => {
    const item = await map(row);
    progress.step();
    return item;
  };
  try {
    return await Promise.all(rows.map((row) => limit(mapOne, row)));
  } finally {
    // After an error, the rows that wait are of no use.
    limit.clearQueue();
    progress.clear();
  }
}
