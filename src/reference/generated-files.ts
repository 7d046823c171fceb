import { readFileSync } from "node:fs";
import { fileSchema } from "./json-schema.ts";
import { scannerPages, scannerTable } from "./pages.ts";
import { optionTypes, scannerIndex, unambiguousScanners } from "./typescript.ts";

const README = new URL("../../README.md", import.meta.url);

/** Between these lines of the README stands the table of the scanners. */
const [BEGIN, END] = ["<!-- scanners -->\n", "<!-- /scanners -->"];

/** The text of every generated file, by its path in the repository. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    ["src/generated/options.ts", optionTypes()],
    ["src/generated/input-scanners.ts", scannerIndex("input")],
    ["src/generated/output-scanners.ts", scannerIndex("output")],
    ["src/generated/scanners.ts", unambiguousScanners()],
    ["scanners.schema.json", JSON.stringify(fileSchema(), null, 2)],
    ...scannerPages(),
    ...readme(),
  ]);
}

/** The README with the table of the scanners, where it has a place for it. */
function readme(): [string, string][] {
  const text = readFileSync(README, "utf8");
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) return [];
  return [["README.md", `${text.slice(0, begin)}${BEGIN}${scannerTable("docs/scanners")}\n${text.slice(end)}`]];
}
