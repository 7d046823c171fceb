/** Prints rows of strings as a Markdown table. */
export function printTable(head, rows) {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const line = (row) =>
    `| ${row.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join(" | ")} |`;
  console.log([line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n"));
}

/** A size in a readable unit: 200 B, 64 kB, 1 MB. */
export function formatBytes(size) {
  return size < 1000 ? `${size} B` : size < 1e6 ? `${size / 1000} kB` : `${size / 1e6} MB`;
}

/** A number with about three digits, or "unknown". */
export function formatNumber(value) {
  return value === undefined ? "unknown" : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}
