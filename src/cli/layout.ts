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

/** Characters between two columns. */
const GAP = 2;
/** The fewest characters to which a column is cut. */
const NARROWEST = 8;

/**
 * Rows of cells in columns; the last column is as long as it is.
 *
 * @param width the characters that a line may have, such as those of a terminal; cells that are too long for it end in `…`.
 * @param right the columns whose cells stand at the right, such as numbers.
 */
export function columns(
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, right = [] }: { width?: number | undefined; right?: readonly number[] } = {},
): string {
  const widths = fitted(
    (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))),
    width,
  );
  return rows
    .map((row) => {
      const cells = row.map((cell, column) => {
        const space = widths[column] ?? 0;
        return shortened(cell, space)[right.includes(column) ? "padStart" : "padEnd"](space);
      });
      return `${cells.join(" ".repeat(GAP)).trimEnd()}\n`;
    })
    .join("");
}

/** Makes the widest columns narrower until a line fits, one character at a time. */
function fitted(widths: readonly number[], limit: number): number[] {
  const result = [...widths];
  const total = () => result.reduce((sum, width) => sum + width, 0) + GAP * (result.length - 1);
  for (let excess = total() - limit; excess > 0; excess--) {
    const widest = Math.max(...result);
    if (widest <= NARROWEST) break;
    result[result.lastIndexOf(widest)] = widest - 1;
  }
  return result;
}

/** A text of at most `width` characters, which ends in `…` where something is left out. */
export function shortened(text: string, width: number): string {
  if (text.length <= width) return text;
  const letters = [...text];
  while (letters.length > 0 && letters.join("").length >= width) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

/** Paragraphs in lines of at most 100 characters, each line behind `indent`. */
export function indented(text: string, indent = ""): string {
  return wrapLines(text, 100 - indent.length)
    .map((line) => `${indent}${line}`.trimEnd())
    .join("\n");
}
