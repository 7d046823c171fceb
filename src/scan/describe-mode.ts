import { MODE_GROUPS, type Mode, type ModeSetting, modeOf } from "./mode.ts";
import type { Scanner, Side } from "./scanner.ts";

/** A scanner with its name in results, and the mode of all scanners. */
interface ModedScanner {
  name: string;
  scanner: Scanner;
  side: Side;
  /** The mode of all scanners. */
  mode: ModeSetting | undefined;
}

/**
 * Describes for which texts a scanner has a mode: `Toxicity`, or `Toxicity (tool, history)`. Undefined if it has this mode for no text that
 * its side reads.
 */
export function describeMode({ name, scanner, side, mode }: ModedScanner, wanted: Mode): string | undefined {
  const groups = MODE_GROUPS.filter((group) => (group === "output") === (side === "output"));
  const found = groups.filter((group) => modeOf(group, [mode, scanner.mode]) === wanted);
  if (found.length === 0) return undefined;
  return found.length === groups.length ? name : `${name} (${found.join(", ")})`;
}
