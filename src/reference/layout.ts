/**
 * The lines of a text, of at most `width` characters. Lines of one paragraph, or of one item of a list, are joined before they
 * are wrapped anew; items hang by two spaces, and a tag of TSDoc keeps a line of its own.
 */
export function wrapLines(text: string, width: number): string[] {
  return text
    .replace(/(?<=\S)\n[ ]*(?=[^\s@-])/g, " ")
    .split("\n")
    .flatMap((line) => wrapped(line, width));
}

function wrapped(line: string, width: number): string[] {
  const hanging = /^\s*- /.test(line) ? "  " : "";
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    const longer = current === "" ? word : `${current} ${word}`;
    if (longer.length > width && current.trim() !== "") {
      lines.push(current);
      current = hanging + word;
    } else {
      current = longer;
    }
  }
  return [...lines, current];
}

/** Rows of cells in columns; the last column is as long as it is. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

/** Paragraphs in lines of at most 100 characters, each line behind `indent`. */
export function indented(text: string, indent = ""): string {
  return wrapLines(text, 100 - indent.length)
    .map((line) => `${indent}${line}`.trimEnd())
    .join("\n");
}
