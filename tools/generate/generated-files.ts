import { basename, join } from "node:path";
import { createManifest, MANIFEST } from "../../src/models/manifest.ts";
import { embeddedFolder, modelFolders } from "../../src/models/model-files.ts";
import { errorPage } from "./error-codes.ts";
import { fileSchema } from "./json-schema.ts";
import { messageShapesPage } from "./message-shapes.ts";
import { scannerPages } from "./scanner-pages.ts";
import { optionTypes, scannerIndex } from "./typescript.ts";

/** The texts of all generated files but the manifests, before they are formatted, by their paths in the repository. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    ["src/scanners/generated/options.ts", optionTypes()],
    ["src/scanners/generated/input-scanners.ts", scannerIndex("input")],
    ["src/scanners/generated/output-scanners.ts", scannerIndex("output")],
    ["scanners.schema.json", JSON.stringify(fileSchema(), null, 2)],
    ...scannerPages(),
    ["docs/errors.md", errorPage()],
    messageShapesPage(),
  ]);
}

/** The manifests of the embedded models, by their paths in the repository. */
export function modelManifests(): Map<string, string> {
  const root = basename(embeddedFolder);
  return new Map(
    modelFolders(embeddedFolder).map((name) => [
      `${root}/${name}/${MANIFEST}`,
      createManifest(join(embeddedFolder, name)),
    ]),
  );
}
