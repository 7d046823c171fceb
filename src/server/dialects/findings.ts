import type { Message } from "../../scan/chat-request.ts";
import { SUFFIXES } from "../../scan/report.ts";
import type { Finding } from "../../scan/scanner.ts";
import { SCANNERS } from "../../scanners/catalog.ts";

/** A finding with offsets in the given content of its message. */
export type PlacedFinding = Finding & { readonly view?: undefined };

/**
 * Returns whether the offsets of a finding refer to the content of a message, which must be a string. They do not in tool calls, parts of a
 * content, JSON and decoded views.
 *
 * @param message the default index of the message.
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
 * Returns the type of the findings of a check, which other products use as its kind. It is undefined for checks without findings, of
 * plugins, and with names of the user.
 */
export function findingTypeOf(check: string): string | undefined {
  const suffix = SUFFIXES.find((suffix) => check.endsWith(suffix)) ?? "";
  return TYPES.get(check.slice(0, check.length - suffix.length).replace(/#\d+$/, ""));
}
