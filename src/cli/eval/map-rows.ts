import { Progress } from "../progress.ts";

/** The number of concurrent scans, as in a busy server. */
const CONCURRENCY = 16;

/** Applies a function to rows, many at the same time, and shows the progress. The results have the order of the rows. */
export async function mapRows<Row, Item>(rows: readonly Row[], map: (row: Row) => Promise<Item>): Promise<Item[]> {
  const progress = new Progress(rows.length, false);
  const results = new Array<Item>(rows.length);
  let next = 0;
  const work = async () => {
    while (next < rows.length) {
      const index = next++;
      results[index] = await map(rows[index] as Row);
      progress.step();
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
  } finally {
    next = rows.length;
    progress.clear();
  }
  return results;
}
