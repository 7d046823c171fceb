import type { Mode } from "../scan/mode.ts";
import { UsageError } from "./command.ts";

/** The modes of `--mode`. They are listed here, because help must not load the module of the schema. */
const MODES: readonly Mode[] = ["enforce", "monitor", "off"];

export const MODE_HELP =
  "enforce, monitor (report what would be blocked or masked, and change nothing) or off; the least strict of this and of app.mode wins";

/** Reads the option `--mode`. */
export function modeOption(value: string | undefined): Mode | undefined {
  const mode = MODES.find((known) => known === value);
  if (value !== undefined && !mode) throw new UsageError(`--mode: expected ${MODES.join(", ")}, got ${value}`);
  return mode;
}
