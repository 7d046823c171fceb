// `node scripts/figures.mjs` corrects the numbers of rules, services, kinds of personal data, scanners and languages in the pages.
// `node scripts/figures.mjs --check` only lists the wrong ones. All numbers are counted from the data.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path) => readFileSync(join(root, path), "utf8");
const filesIn = (folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);

const SECRETS = "crates/guard-core/src/rules/secrets/providers";
const RECOGNIZERS = "crates/guard-core/src/pii/recognizers";

const secretRules = filesIn(SECRETS).map(read).join("\n");
// The other file repeats types under the names that files of llm-guard use.
const recognizers = filesIn(RECOGNIZERS)
  .filter((path) => !path.endsWith("/llm-guard.toml"))
  .map(read)
  .join("\n");

/** Returns how many different values a key has in a TOML text. */
const countValues = (text, key) =>
  new Set([...text.matchAll(new RegExp(`^${key} = "(.*)"$`, "gm"))].map(([, v]) => v)).size;

/** Each figure, and how pages spell it: `pattern` captures the number, perhaps behind "more than ". */
export const FIGURES = [
  {
    name: "rules for secrets",
    count: secretRules.match(/^\[\[rule\]\]$/gm).length,
    pattern: /\b(more than )?(\d[\d,]*)(?= rules\b)/g,
  },
  {
    name: "services with rules for secrets",
    count: countValues(secretRules, "service"),
    pattern: /\b(more than )?(\d[\d,]*)(?= services\b)/g,
  },
  {
    name: "kinds of personal data",
    count: countValues(recognizers, "entity"),
    pattern: /\b(more than )?(\d[\d,]*)(?= kinds of personal data\b)/g,
  },
  {
    name: "scanners",
    count: read("src/scanners/registry.ts").match(/^export /gm).length,
    pattern: /\b(more than )?(\d[\d,]*)(?= scanners\b)/g,
  },
  {
    name: "languages that Language identifies",
    count: Object.keys(JSON.parse(read("models/language/config.json")).id2label).length,
    pattern: /(?<=\bidentifies )(more than )?(\d[\d,]*)(?= languages\b)/g,
  },
];

/** The pages, and the definitions of scanners that other pages are generated from. Cards and benchmarks describe one version, so their figures stay. */
export function pagesWithFigures() {
  const generated = new Set(["docs/errors.md", "docs/unlike-llm-guard.md", "docs/what-is-read.md"]);
  const docs = filesIn("docs").filter((path) => path.endsWith(".md") && !generated.has(path));
  const scanners = readdirSync(join(root, "src/scanners"), { recursive: true })
    .map((path) => `src/scanners/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !path.includes("/generated/"));
  return ["README.md", "CONTRIBUTING.md", "SECURITY.md", "package.json", ...scanners, ...docs];
}

/** Spells a count: exactly, or after "more than" rounded down to its first digit, or to hundreds from 1,000 on. */
function spelled(count, isMinimum) {
  const step = count >= 100 ? 100 : 10;
  return (isMinimum ? Math.floor(count / step) * step : count).toLocaleString("en-US");
}

/** Returns the text with all figures corrected. */
export function withFigures(text) {
  return FIGURES.reduce(
    (result, { count, pattern }) =>
      result.replace(pattern, (_, minimum = "") => `${minimum}${spelled(count, minimum !== "")}`),
    text,
  );
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const isCheck = process.argv.includes("--check");
  const wrong = pagesWithFigures().filter((path) => withFigures(read(path)) !== read(path));
  for (const path of wrong) {
    console.log(`${path} ${isCheck ? "has wrong figures: run node scripts/figures.mjs" : "corrected"}`);
    if (!isCheck) writeFileSync(join(root, path), withFigures(read(path)));
  }
  for (const { name, count } of FIGURES) console.log(`${name}: ${count.toLocaleString("en-US")}`);
  process.exitCode = isCheck && wrong.length > 0 ? 1 : 0;
}
