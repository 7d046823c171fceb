import type { Message } from "../../scan/chat-request.ts";
import { SUFFIXES } from "../../scan/report.ts";
import type { Finding } from "../../scan/scanner.ts";
import { SCANNERS } from "../../scanners/catalog.ts";

/** A finding whose offsets count in the content of its message, as it was given. */
export type PlacedFinding = Finding & { readonly view?: undefined };

/**
 * Tells whether the offsets of a finding count in the content of a message, which has to be a string: then others can point at the
 * text that was found. In tool calls, in parts of a content and in JSON they cannot, nor in what a disguise hides.
 *
 * @param message the index of the message that findings without a place are in.
 */
export function isPlaced(finding: Finding, message: number, messages: readonly Message[]): finding is PlacedFinding {
  const index = finding.message ?? message;
  const isContent = finding.path === undefined || finding.path === `messages/${index}/content`;
  return isContent && finding.view === undefined && typeof messages[index]?.content === "string";
}

const TYPES: ReadonlyMap<string, string | undefined> = new Map(
  SCANNERS.map(({ definition }) => [definition.type, definition.findings[0]?.type]),
);

/**
 * The type of the findings of a check, by which other products know what it looks for. It is undefined for checks without findings,
 * and for those of plugins and under names of the user's.
 */
export function findingTypeOf(check: string): string | undefined {
  const suffix = SUFFIXES.find((suffix) => check.endsWith(suffix)) ?? "";
  return TYPES.get(check.slice(0, check.length - suffix.length).replace(/#\d+$/, ""));
}
