/** Escapes tags, emphasis and pipes in Markdown, except in code. */
export function escapeMarkdown(text: string): string {
  return text
    .split(/(`+[^`]*`+)/)
    .map((part, index) =>
      index % 2 === 1 ? part.replaceAll("|", "\\|") : part.replace(/[*|]/g, "\\$&").replaceAll("<", "&lt;"),
    )
    .join("");
}

/** A text as inline code. Invisible characters are written as escapes. */
export function code(text: string): string {
  const visible = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, (char) => {
    return char === "\n" ? "\\n" : `\\u{${(char.codePointAt(0) as number).toString(16)}}`;
  });
  const longest = Math.max(0, ...(visible.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const space = longest > 0 ? " " : "";
  return `${fence}${space}${visible}${space}${fence}`;
}

/** A table of Markdown cells. The first row has the titles. */
export function table(rows: readonly (readonly string[])[]): string {
  const [titles = [], ...body] = rows;
  return [titles, titles.map(() => "---"), ...body].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Converts a type to the name of a file: `Toxicity` to `toxicity`, `URLReachability` to `url-reachability`, `MaliciousURLs` to `malicious-urls`. */
export function kebabCase(type: string): string {
  return type
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z]{2})/g, "$1-$2")
    .toLowerCase();
}
