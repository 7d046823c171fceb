/**
 * Wraps a text to lines of at most `width` characters. Lines of a paragraph or of a list item are joined first. List items get a hanging
 * indent of two spaces, and a TSDoc tag keeps its own line.
 */
export function wrapLines(text: string, width: number): string[] {
  return text
    .replace(/(?<=\S)\n[ ]*(?=[^\s@-])/g, " ")
    .split("\n")
    .flatMap((line) => wrapLine(line, width));
}

function wrapLine(line: string, width: number): string[] {
  const indent = /^\s*- /.test(line) ? "  " : "";
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    const longer = current === "" ? word : `${current} ${word}`;
    if (longer.length > width && current.trim() !== "") {
      lines.push(current);
      current = indent + word;
    } else {
      current = longer;
    }
  }
  return [...lines, current];
}

/** Spaces between two columns. */
const GAP = 2;
/** The width below which no column is cut. */
const MIN_WIDTH = 8;

/**
 * Aligns rows of cells in columns.
 *
 * @param width the maximum length of a line, such as the width of a terminal. Cells of columns that do not fit are cut and end in `…`.
 * @param right the columns that are aligned at the right, such as numbers.
 */
export function columns(
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, right = [] }: { width?: number | undefined; right?: readonly number[] } = {},
): string {
  const widths = fitWidths(
    (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))),
    width,
  );
  return rows
    .map((row) => {
      const cells = row.map((cell, column) => {
        const space = widths[column] ?? 0;
        return truncate(cell, space)[right.includes(column) ? "padStart" : "padEnd"](space);
      });
      return `${cells.join(" ".repeat(GAP)).trimEnd()}\n`;
    })
    .join("");
}

/** Narrows the widest columns, one character at a time, until a line fits. */
function fitWidths(widths: readonly number[], limit: number): number[] {
  const result = [...widths];
  const total = () => result.reduce((sum, width) => sum + width, 0) + GAP * (result.length - 1);
  for (let excess = total() - limit; excess > 0; excess--) {
    const widest = Math.max(...result);
    if (widest <= MIN_WIDTH) break;
    result[result.lastIndexOf(widest)] = widest - 1;
  }
  return result;
}

/** Cuts a text to at most `width` characters. A cut text ends in `…`. */
export function truncate(text: string, width: number): string {
  if (text.length <= width) return text;
  const letters = [...text];
  while (letters.length > 0 && letters.join("").length >= width) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

/** Wraps paragraphs to lines of at most 100 characters, each of which begins with `indent`. */
export function indentLines(text: string, indent = ""): string {
  return wrapLines(text, 100 - indent.length)
    .map((line) => `${indent}${line}`.trimEnd())
    .join("\n");
}
