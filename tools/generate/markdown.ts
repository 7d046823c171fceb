/** A text as Markdown shows it: what it would take for tags, emphasis or columns is escaped, but in code. */
export function escaped(text: string): string {
  return text
    .split(/(`+[^`]*`+)/)
    .map((part, index) =>
      index % 2 === 1 ? part.replaceAll("|", "\\|") : part.replace(/[*|]/g, "\\$&").replaceAll("<", "&lt;"),
    )
    .join("");
}

/** A text in code, whatever is in it; what nobody could see is written as an escape. */
export function code(text: string): string {
  const visible = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, (char) => {
    return char === "\n" ? "\\n" : `\\u{${(char.codePointAt(0) as number).toString(16)}}`;
  });
  const longest = Math.max(0, ...(visible.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const space = longest > 0 ? " " : "";
  return `${fence}${space}${visible}${space}${fence}`;
}

/** A table, its first row the titles of its columns. Cells are Markdown. */
export function table(rows: readonly (readonly string[])[]): string {
  const [titles = [], ...body] = rows;
  return [titles, titles.map(() => "---"), ...body].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** `Toxicity` as the name of a file: `toxicity`; `URLReachability`: `url-reachability`; `MaliciousURLs`: `malicious-urls`. */
export function kebabCase(type: string): string {
  return type
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z]{2})/g, "$1-$2")
    .toLowerCase();
}
