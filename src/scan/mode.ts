import { z } from "zod";
import { SCAN_GROUPS } from "./source.ts";

/**
 * What a check does. `enforce`: a failing check blocks the text, or rewrites it. `monitor`: it runs and is judged in the same way, but the
 * text goes on unchanged, and the report tells what would have happened. `off`: it does not run.
 */
export const MODES = ["enforce", "monitor", "off"] as const;
export type Mode = (typeof MODES)[number];

/** The texts that can have a mode of their own: the groups of the input scanners, and answers of the model. */
export const MODE_GROUPS = [...SCAN_GROUPS, "output"] as const;
export type ModeGroup = (typeof MODE_GROUPS)[number];

/** One mode for all texts, or a mode by the source of the texts. Sources without one are enforced. */
export type ModeSetting = Mode | Partial<Record<ModeGroup, Mode>>;

/** The schema of a {@link ModeSetting}. */
export const modeSetting = z.union([z.enum(MODES), z.partialRecord(z.enum(MODE_GROUPS), z.enum(MODES))], {
  error: `expected ${MODES.join(", ")}, or one of them by source: ${MODE_GROUPS.join(", ")}`,
});

/**
 * Returns the mode of a check. Of all settings that apply to it, the least strict one wins, so that one switch is enough to stop a check, or
 * all checks, from blocking.
 *
 * @param group the texts of the check. A window consists of messages of the user.
 */
export function modeOf(group: ModeGroup | "window", settings: readonly (ModeSetting | undefined)[]): Mode {
  const own = group === "window" ? "user" : group;
  let strictness = 0;
  for (const setting of settings) {
    if (setting === undefined) continue;
    const mode = typeof setting === "string" ? setting : setting[own];
    if (mode !== undefined) strictness = Math.max(strictness, MODES.indexOf(mode));
  }
  return MODES[strictness] as Mode;
}

/** Returns one setting with the effect of several: of each source, the least strict mode. */
export function leastStrict(...settings: readonly (ModeSetting | undefined)[]): ModeSetting | undefined {
  const given = settings.filter((setting) => setting !== undefined);
  if (given.length < 2) return given[0];
  if (given.every((setting) => typeof setting === "string")) return modeOf("user", given);
  return Object.fromEntries(MODE_GROUPS.map((group) => [group, modeOf(group, given)]));
}

/** Whether a setting is the same mode for all texts. */
export function isEverywhere(setting: ModeSetting | undefined, mode: Mode): boolean {
  if (setting === undefined || typeof setting === "string") return (setting ?? "enforce") === mode;
  return MODE_GROUPS.every((group) => (setting[group] ?? "enforce") === mode);
}
