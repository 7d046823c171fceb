import { errorPage } from "./error-codes.ts";
import { fileSchema } from "./json-schema.ts";
import { scannerPages } from "./pages.ts";
import { optionTypes, scannerIndex, unambiguousScanners } from "./typescript.ts";

/** The text of every generated file, by its path in the repository. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    ["src/scanners/generated/options.ts", optionTypes()],
    ["src/scanners/generated/input-scanners.ts", scannerIndex("input")],
    ["src/scanners/generated/output-scanners.ts", scannerIndex("output")],
    ["src/scanners/generated/scanners.ts", unambiguousScanners()],
    ["scanners.schema.json", JSON.stringify(fileSchema(), null, 2)],
    ...scannerPages(),
    ["docs/errors.md", errorPage()],
  ]);
}
