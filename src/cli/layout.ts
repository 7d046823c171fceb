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

/** The width below which the last column does not fit beside the others. */
const MIN_LAST_WIDTH = 30;

export interface ColumnOptions {
  /** The maximum length of a line, such as the width of a terminal. */
  width?: number | undefined;
  /** The columns that are aligned at the right, such as numbers. */
  right?: readonly number[];
  /** Whether cells of the last column are wrapped instead of cut; in a narrow terminal, below the other cells. */
  wraps?: boolean;
}

/** Aligns rows of cells in columns. Cells of columns that do not fit are cut and end in `…`. */
export function columns(
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, right = [], wraps = false }: ColumnOptions = {},
): string {
  const natural = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const [last = 0] = natural.slice(-1);
  const first = natural.slice(0, -1).reduce((sum, own) => sum + own + GAP, 0);
  if (wraps && first + last > width) return wrappedColumns(rows, natural, { width, first });
  const widths = fitWidths(natural, width);
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

/** @param first the width of all columns before the last one, with the gap. */
function wrappedColumns(
  rows: readonly (readonly string[])[],
  widths: readonly number[],
  { width, first }: { width: number; first: number },
): string {
  const isNarrow = width - first < MIN_LAST_WIDTH;
  const indent = " ".repeat(isNarrow ? 2 * GAP : first);
  return rows
    .map((row) => {
      const cells = row.slice(0, -1).map((cell, column) => cell.padEnd(isNarrow ? 0 : (widths[column] ?? 0)));
      const start = cells.join(" ".repeat(GAP));
      const lines = wrapLines(row.at(-1) ?? "", Math.max(MIN_WIDTH, width - indent.length));
      if (isNarrow) return [...wrapLines(start, width), ...lines.map((line) => indent + line)].join("\n");
      return lines.map((line, index) => (index === 0 ? `${start}${" ".repeat(GAP)}` : indent) + line).join("\n");
    })
    .map((row) => `${row.replace(/ +$/gm, "")}\n`)
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
