import type { Figures, ScannerResult } from "../../src/cli/eval/measure.ts";
import { figureCells, resultTitle } from "../../src/cli/eval/tables.ts";

/** A card with more groups than this leaves out small ones, whose figures mean nothing. */
const MANY_GROUPS = 40;
/** The fewest texts of a group that is never left out. */
const SMALLEST_GROUP = 10;

/** The groups of a field that a card shows, and a note about the omitted ones. */
function shownGroups(groups: Readonly<Record<string, Figures>>): [Record<string, Figures>, string[]] {
  const all = Object.entries(groups);
  const shown = all.length > MANY_GROUPS ? all.filter(([, { rows }]) => rows >= SMALLEST_GROUP) : all;
  const omitted = all.length - shown.length;
  const note = `${omitted} groups of fewer than ${SMALLEST_GROUP} texts are not shown, but count in the last row.`;
  return [Object.fromEntries(shown), omitted > 0 ? [note] : []];
}

/** The figures of a result in Markdown, below a heading, for the card of its model. */
export function markdownTables(result: ScannerResult): string {
  const { model: _, ...others } = result.params;
  const params = Object.keys(others).length > 0 ? `, \`${JSON.stringify(others)}\`` : "";
  const groups = Object.entries(result.by).map(([field, all]) => [field, ...shownGroups(all)] as const);
  const by = Object.fromEntries(groups.map(([field, shown]) => [field, shown]));
  const tables = figureCells({ all: result.all, by }).map(([titles = [], ...rows], index) =>
    [
      [titles.map((title) => title.toLowerCase()), titles.map(() => "---"), ...rows]
        .map((row) => `| ${row.join(" | ")} |`)
        .join("\n"),
      ...(groups[index]?.[2] ?? []),
    ].join("\n\n"),
  );
  return `### ${resultTitle(result)}${params}\n\n${tables.join("\n\n")}`;
}
