import { applyEdits } from "../../src/scan/edits.ts";
import type { ScanContext, Scanner, Verdict } from "../../src/scan/scanner.ts";

/** Returns a text as a verdict rewrites it. */
export function rewritten(text: string, { edits = [] }: Verdict): string {
  return applyEdits(text, edits);
}

/** Scans a text, and adds the rewritten text to the verdict. */
export async function scanned(
  scanner: Scanner,
  text: string,
  context: ScanContext = {},
): Promise<Verdict & { rewritten: string }> {
  const verdict = await scanner.scan(text, context);
  return { ...verdict, rewritten: rewritten(text, verdict) };
}
